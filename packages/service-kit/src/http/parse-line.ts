import type { ImportProblem } from "@ehr-marketplace/contracts";
import type { ValidateFunction } from "ajv/dist/2020.js";
import type { FastifySchemaValidationError } from "fastify";
import type { Static, TSchema } from "typebox";
import { invalidRequest, schemaViolations } from "./invalid-request.ts";
import { isNestedTooDeep, tooDeepDetail } from "./json-depth.ts";
import { findSyntaxError } from "./json-syntax-error.ts";
import { dropNulls } from "./optional-fields.ts";
import { Problem } from "./problem.ts";
import { findUnstorable } from "./request-guards.ts";
import { standardProblems } from "./standard-problems.ts";
import { createStrictAjv } from "./strict-ajv.ts";

const byteOrderMark = "\ufeff";

/** Parses the JSON of a line with the limits that a request's body has. */
export function parseLine(text: string): unknown {
  const json = text.startsWith(byteOrderMark) ? text.slice(1) : text;
  if (isNestedTooDeep(json)) throw invalidRequest("/body", tooDeepDetail);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    const column = findSyntaxError(json)?.column ?? 1;
    throw new Problem(standardProblems.invalidRequest, `The line is not valid JSON; see column ${column}.`);
  }
  const found = findUnstorable(value, "body");
  if (found !== undefined) throw invalidRequest(found.pointer, `${found.detail}, which is never valid`);
  return value;
}

/** Validates the value of a line as the body of a request with this schema would be. The schema is compiled on first use. */
export function createLineValidator<S extends TSchema>(schema: S): (value: unknown) => Static<S> {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= createStrictAjv({ allErrors: true, useDefaults: true, verbose: true }).compile(schema);
    dropNulls(schema, value);
    if (validate(value)) return value as Static<S>;
    throw schemaViolations("body", (validate.errors ?? []) as FastifySchemaValidationError[]);
  };
}

/** The problem of one line. Its pointers begin at the line's object. */
export function toLineProblem({ kind, message, errors }: Problem): ImportProblem {
  if (errors === undefined) return { code: kind.code, detail: message };
  const own = errors.map(({ pointer, detail }) => ({ pointer: pointer.replace(/^\/body/, ""), detail }));
  const detail = own.map((each) => `${each.pointer || "The line"} ${each.detail}`).join("; ");
  return { code: kind.code, detail: `${detail}.`, pointer: own[0]?.pointer ?? "" };
}
