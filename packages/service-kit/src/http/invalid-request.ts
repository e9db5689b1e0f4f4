import type { FastifySchemaValidationError } from "fastify";
import { collapseUnions } from "./collapse-unions.ts";
import { describeValidationError } from "./describe-validation-error.ts";
import { escapePointerSegment, type InvalidInput, Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

/** How many invalid inputs a 400 lists. */
const maxListedInputs = 20;

/** How many errors of Ajv are read for them: a union has some for each alternative. Comparing them takes quadratic time. */
export const maxReadErrors = 200;

/** A 400 that lists the invalid inputs, each with its JSON pointer. */
export function invalidInputs(inputs: InvalidInput[]): Problem {
  const errors = inputs.slice(0, maxListedInputs);
  const detail = errors.map((each) => `${each.pointer} ${each.detail}`).join("; ");
  return new Problem(standardProblems.invalidRequest, `${detail}.`, { errors });
}

/** A 400 for one input, for rules that a schema can't express. */
export function invalidRequest(pointer: string, detail: string): Problem {
  return invalidInputs([{ pointer, detail }]);
}

/** A query parameter that is given more than once is an array. Ajv's option `verbose` adds value and schema to the error. */
function isRepeated(part: string, error: FastifySchemaValidationError): boolean {
  const { data, parentSchema } = error as { data?: unknown; parentSchema?: { type?: unknown } };
  return part === "query" && Array.isArray(data) && parentSchema?.type !== "array";
}

/** `part` is empty for a value that isn't a part of a request. */
function toInvalidInput(part: string, error: FastifySchemaValidationError): InvalidInput {
  const { missingProperty, additionalProperty } = error.params as Record<string, string | undefined>;
  const leaf = missingProperty ?? additionalProperty;
  const pointer = `${part && `/${part}`}${error.instancePath}${leaf === undefined ? "" : `/${escapePointerSegment(leaf)}`}`;
  if (isRepeated(part, error)) return { pointer, detail: "is given more than once" };
  const detail = describeValidationError(error);
  const isQueryTime = part === "query" && error.params["format"] === "date-time";
  // An unescaped + of a time zone arrives as a space.
  return { pointer, detail: isQueryTime ? `${detail}; in a URL, write + as %2B` : detail };
}

const isSame = (one: InvalidInput, other: InvalidInput): boolean =>
  one.pointer === other.pointer && one.detail === other.detail;

/** Describes what Ajv found in a part of a request, or in another value. */
export function describeErrors(part: string, errors: FastifySchemaValidationError[]): InvalidInput[] {
  const inputs = collapseUnions(errors.slice(0, maxReadErrors)).map((error) => toInvalidInput(part, error));
  // A schema with its own error message has the same one for each of its rules.
  return inputs.filter((each, index) => inputs.findIndex((other) => isSame(each, other)) === index);
}

/** A 400 for a part of the request that doesn't match its schema, for example `body`. */
export function schemaViolations(part: string, errors: FastifySchemaValidationError[]): Problem {
  return invalidInputs(describeErrors(part, errors));
}
