import { type ReportUsageBody, reportUsageEnvelope, type UsageRecord, usageRecord } from "@ehr-marketplace/contracts";
import { createBodyValidator, Problem } from "@ehr-marketplace/service-kit/http";
import type { FastifyRequest } from "fastify";

/** A record of a batch that doesn't match its schema. */
export interface MalformedRecord {
  /** As sent, if that is a text. */
  id: string;
  malformed: string;
}

export type SentRecord = UsageRecord | MalformedRecord;

const maxIdLength = 100;
const maxReasonLength = 500;
const validateEnvelope = createBodyValidator(reportUsageEnvelope);
const validateRecord = createBodyValidator(usageRecord);

function readRecord(record: unknown): SentRecord {
  try {
    return validateRecord(record);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { id } = (record ?? {}) as { id?: unknown };
    // With pointers that begin at the record.
    const reason = error.message.replaceAll("/body/", "").replaceAll("/body ", "A record ");
    return { id: typeof id === "string" ? id.slice(0, maxIdLength) : "", malformed: reason.slice(0, maxReasonLength) };
  }
}

/**
 * The records of a batch whose body was validated. If that failed, each record is validated by itself, so that a malformed one doesn't
 * hinder the others; what is wrong with the body itself is thrown.
 */
export function readRecords({
  body,
  validationError,
}: Pick<FastifyRequest, "validationError"> & { body: ReportUsageBody }): SentRecord[] {
  if (validationError === undefined) return body.records;
  if (validationError.validationContext !== "body") throw validationError;
  return validateEnvelope(body).records.map(readRecord);
}
