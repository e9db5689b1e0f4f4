import type { FastifySchemaValidationError } from "fastify";
import type { Static, TSchema } from "typebox";
import { schemaViolations } from "./invalid-request.ts";
import { dropNulls } from "./optional-fields.ts";
import { createStrictAjv } from "./strict-ajv.ts";

/** Validates a value that was made from a request's body, with the errors that the body itself would have. */
export function createBodyValidator<S extends TSchema>(schema: S): (value: unknown) => Static<S> {
  const validate = createStrictAjv({ allErrors: true, verbose: true }).compile(schema);
  return (value) => {
    dropNulls(schema, value);
    if (validate(value)) return value as Static<S>;
    throw schemaViolations("body", (validate.errors ?? []) as FastifySchemaValidationError[]);
  };
}
