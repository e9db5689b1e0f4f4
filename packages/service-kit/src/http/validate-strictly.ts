import type { AnySchema, ValidateFunction } from "ajv/dist/2020.js";
import type { FastifyServerOptions } from "fastify";
import type { FastifyRouteSchemaDef } from "fastify/types/schema.js";
import { strictAjv } from "./strict-ajv.ts";

interface ObjectSchema {
  properties?: Record<string, { type?: string }>;
}

const wholeNumber = /^-?\d+$/;

/**
 * A query holds strings only. Ajv's own coercion would take "0x10", " 1" and "1e2" for whole numbers and an array of
 * one for its element; here "12" becomes 12, what is too large the largest that is exact, and everything else stays what it is, to be refused by the schema.
 */
function withWholeNumbers(validate: ValidateFunction, schema: ObjectSchema) {
  const names = Object.entries(schema.properties ?? {})
    .filter(([, property]) => property.type === "integer")
    .map(([name]) => name);
  return (query: Record<string, unknown>) => {
    for (const name of names) {
      const given = query[name];
      if (typeof given === "string" && wholeNumber.test(given)) {
        query[name] = Math.min(Number(given), Number.MAX_SAFE_INTEGER);
      }
    }
    return validate(query) ? { value: query } : { error: validate.errors ?? [] };
  };
}

/**
 * Fastify builds one compiler for each scope that adds schemas. A compiler set with `setValidatorCompiler` would be
 * forgotten in such scopes; a builder is not.
 */
function buildValidator(sharedSchemas: Record<string, AnySchema>) {
  const ajv = strictAjv({ allErrors: true, useDefaults: true });
  for (const schema of Object.values(sharedSchemas)) ajv.addSchema(schema);
  return ({ schema, httpPart }: FastifyRouteSchemaDef<ObjectSchema>) => {
    const validate = ajv.compile(schema);
    return httpPart === "querystring" ? withWholeNumbers(validate, schema) : validate;
  };
}

type SchemaController = NonNullable<FastifyServerOptions["schemaController"]>;
type Builder = NonNullable<NonNullable<SchemaController["compilersFactory"]>["buildValidator"]>;

export const strictValidation: SchemaController = {
  // Fastify types the builder as the one of its own Ajv package, though it takes any of this form.
  compilersFactory: { buildValidator: buildValidator as unknown as Builder },
};
