import type { ValidateFunction } from "ajv/dist/2020.js";
import type { FastifySchemaValidationError } from "fastify";
import type { Static, TSchema } from "typebox";
import { schemaViolations } from "./invalid-request.ts";
import { dropNulls } from "./optional-fields.ts";
import { createStrictAjv } from "./strict-ajv.ts";

/** Validates a value that was made from a request's body, with the errors that the body itself would have. */
export function createBodyValidator<S extends TSchema>(schema: S): (value: unknown) => Static<S> {
  // Compiled when it is first needed, as the schemas of routes are.
  let compiled: ValidateFunction | undefined;
  return (value) => {
    compiled ??= createStrictAjv({ allErrors: true, verbose: true }).compile(schema);
    const validate = compiled;
    dropNulls(schema, value);
    if (validate(value)) return value as Static<S>;
    throw schemaViolations("body", (validate.errors ?? []) as FastifySchemaValidationError[]);
  };
}
