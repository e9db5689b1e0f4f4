import { Ajv2020, type AnySchema, type Options } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

/** The form that PostgreSQL accepts. The `uuid` format of ajv-formats also accepts `urn:uuid:…`. */
export const uuidFormat: RegExp = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

/** Compiling the meta-schemas takes longer than compiling all schemas of a service, so they are compiled once and shared. */
const metaSchemas = new Ajv2020();
/** Each scope of a service has an Ajv of its own, with the same shared schemas. */
const validSchemas = new WeakSet<object>();

class StrictAjv extends Ajv2020 {
  override validateSchema(schema: AnySchema, throwOrLogError?: boolean): boolean | Promise<unknown> {
    if (typeof schema === "object" && validSchemas.has(schema)) return true;
    const isValid = metaSchemas.validateSchema(schema, throwOrLogError);
    if (isValid === true && typeof schema === "object") validSchemas.add(schema);
    return isValid;
  }
}

export function createStrictAjv(options: Options = {}): Ajv2020 {
  const ajv = new StrictAjv({ strict: true, allowUnionTypes: true, meta: false, ...options });
  addFormats.default(ajv);
  // The error message for values that don't match the `pattern` of the same schema.
  ajv.addKeyword("x-error-message");
  ajv.addFormat("uuid", uuidFormat);
  return ajv;
}
