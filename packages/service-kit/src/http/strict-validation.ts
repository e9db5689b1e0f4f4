import type { AnySchema } from "ajv/dist/2020.js";
import type { FastifyServerOptions } from "fastify";
import type { FastifyRouteSchemaDef } from "fastify/types/schema.js";
import { maxReadErrors } from "./invalid-request.ts";
import { dropNulls, type FieldSchema } from "./optional-fields.ts";
import { createStrictAjv } from "./strict-ajv.ts";

const wholeNumber = /^-?\d+$/;

/**
 * Converts query parameters, which are strings. A blank parameter counts as absent. For integers, "12" becomes 12, and larger values
 * become the largest safe integer. "true" and "false" become booleans. Everything else is left for the schema to refuse. Ajv's own coercion isn't used, because it
 * accepts "0x10", " 1" and "1e2" as integers, and an array of one element as that element.
 */
function createQueryConverter({ properties = {} }: FieldSchema): (query: Record<string, unknown>) => void {
  const parameters = Object.entries(properties);
  return (query) => {
    for (const [name, { type }] of parameters) {
      const given = query[name];
      if (typeof given === "string" && given.trim() === "") {
        delete query[name];
      } else if (type === "integer" && typeof given === "string" && wholeNumber.test(given)) {
        query[name] = Math.min(Number(given), Number.MAX_SAFE_INTEGER);
      } else if (type === "boolean" && (given === "true" || given === "false")) {
        query[name] = given === "true";
      }
    }
  };
}

/**
 * Fastify builds one compiler for each scope that adds schemas. Such scopes ignore a compiler set with `setValidatorCompiler`, but use
 * a builder.
 */
function createCompiler(sharedSchemas: Record<string, AnySchema>) {
  // Collects all errors, so that a client can correct them in one go. Their number is bounded by the limits of body and URL.
  const ajv = createStrictAjv({ allErrors: true, useDefaults: true, verbose: true });
  for (const schema of Object.values(sharedSchemas)) ajv.addSchema(schema);
  return ({ schema, httpPart }: FastifyRouteSchemaDef<FieldSchema>) => {
    const validate = ajv.compile(schema);
    const convertQuery = createQueryConverter(schema);
    return (value: unknown) => {
      if (httpPart === "querystring") convertQuery(value as Record<string, unknown>);
      if (httpPart === "body") dropNulls(schema, value);
      return validate(value) || { error: (validate.errors ?? []).slice(0, maxReadErrors) };
    };
  };
}

type SchemaController = NonNullable<FastifyServerOptions["schemaController"]>;
type Builder = NonNullable<NonNullable<SchemaController["compilersFactory"]>["buildValidator"]>;

/** Fastify's type requires the builder of its own Ajv package; at run time any builder with this signature works. */
export const buildValidator = createCompiler as unknown as Builder;
