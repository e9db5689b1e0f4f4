import type { ReportUsageBody, UsageRecord } from "@ehr-marketplace/contracts";
import { schemaViolations } from "@ehr-marketplace/service-kit/http";
import type { FastifyRequest, FastifySchemaValidationError } from "fastify";

/** A record of a batch that doesn't match its schema. */
export interface MalformedRecord {
  /** As sent, if that is a text. */
  id: string;
  malformed: string;
}

export type SentRecord = UsageRecord | MalformedRecord;

const maxIdLength = 100;
/** Of a record. A batch may have thousands of errors. */
const maxDescribed = 3;
const maxReasonLength = 500;

const indexOf = ({ instancePath }: FastifySchemaValidationError): number | undefined => {
  const [, index] = /^\/records\/(\d+)(?:\/|$)/.exec(instancePath) ?? [];
  return index === undefined ? undefined : Number(index);
};

/** With pointers that begin at the record. */
function describe(errors: FastifySchemaValidationError[]): string {
  const own = errors
    .slice(0, maxDescribed)
    .map((error) => ({ ...error, instancePath: error.instancePath.replace(/^\/records\/\d+/, "") }));
  const { message } = schemaViolations("record", own);
  return message.replaceAll("/record/", "").replaceAll("/record ", "A record ").slice(0, maxReasonLength);
}

/** The records of a batch. Errors of single records don't hinder the others; any other error is thrown. */
export function readRecords({
  body,
  validationError,
}: Pick<FastifyRequest, "validationError"> & { body: ReportUsageBody }): SentRecord[] {
  if (validationError === undefined) return body.records;
  const { validationContext, validation } = validationError;
  if (validationContext !== "body" || validation === undefined) throw validationError;
  const errorsOf = Map.groupBy(validation, indexOf);
  if (errorsOf.has(undefined)) throw validationError;
  return body.records.map((record: unknown, index) => {
    const errors = errorsOf.get(index);
    if (errors === undefined) return record as UsageRecord;
    const { id } = (record ?? {}) as { id?: unknown };
    return { id: typeof id === "string" ? id.slice(0, maxIdLength) : "", malformed: describe(errors) };
  });
}
