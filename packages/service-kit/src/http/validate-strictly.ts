import type { AnySchema } from "ajv/dist/2020.js";
import type { FastifyServerOptions } from "fastify";
import type { FastifyRouteSchemaDef } from "fastify/types/schema.js";
import { dropNulls, type FieldSchema } from "./optional-fields.ts";
import { strictAjv } from "./strict-ajv.ts";

const wholeNumber = /^-?\d+$/;

/**
 * A query holds strings only. A parameter without a value, or with blanks only, counts as absent. Ajv's own coercion would take "0x10", " 1" and
 * "1e2" for whole numbers and an array of one for its element; here "12" becomes 12, what is too large becomes the largest
 * number that is exact, and everything else stays as it is, for the schema to refuse.
 */
function queryReader({ properties = {} }: FieldSchema): (query: Record<string, unknown>) => void {
  const parameters = Object.entries(properties);
  return (query) => {
    for (const [name, { type }] of parameters) {
      const given = query[name];
      if (typeof given === "string" && given.trim() === "") {
        delete query[name];
      } else if (type === "integer" && typeof given === "string" && wholeNumber.test(given)) {
        query[name] = Math.min(Number(given), Number.MAX_SAFE_INTEGER);
      }
    }
  };
}

const maxErrors = 20;

/**
 * Fastify builds one compiler for each scope that adds schemas. A compiler set with `setValidatorCompiler` would be
 * forgotten in such scopes; a builder is not.
 */
function buildValidator(sharedSchemas: Record<string, AnySchema>) {
  // All errors, so that a client can correct them at once. Their number is bounded by the body limit and by the URL's.
  const ajv = strictAjv({ allErrors: true, useDefaults: true, verbose: true });
  for (const schema of Object.values(sharedSchemas)) ajv.addSchema(schema);
  return ({ schema, httpPart }: FastifyRouteSchemaDef<FieldSchema>) => {
    const validate = ajv.compile(schema);
    const readQuery = queryReader(schema);
    return (value: unknown) => {
      if (httpPart === "querystring") readQuery(value as Record<string, unknown>);
      if (httpPart === "body") dropNulls(schema, value);
      return validate(value) || { error: (validate.errors ?? []).slice(0, maxErrors) };
    };
  };
}

type SchemaController = NonNullable<FastifyServerOptions["schemaController"]>;
type Builder = NonNullable<NonNullable<SchemaController["compilersFactory"]>["buildValidator"]>;

export const strictValidation: SchemaController = {
  // Fastify types the builder as the one of its own Ajv package, though it takes any of this form.
  compilersFactory: { buildValidator: buildValidator as unknown as Builder },
};
