import { Ajv2020, type AnySchema, type Options } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { uuidFormat } from "./uuid-format.ts";

/** Compiling JSON Schema's own schemas takes longer than all of a service's: once for everyone. */
const metaSchemas = new Ajv2020();

class StrictAjv extends Ajv2020 {
  override validateSchema(schema: AnySchema, throwOrLogError?: boolean): boolean | Promise<unknown> {
    return metaSchemas.validateSchema(schema, throwOrLogError);
  }
}

export function strictAjv(options: Options = {}): Ajv2020 {
  const ajv = new StrictAjv({ strict: true, allowUnionTypes: true, meta: false, ...options });
  addFormats.default(ajv);
  // What a client is told whose value doesn't match the `pattern` beside it.
  ajv.addKeyword("x-error-message");
  ajv.addFormat("uuid", uuidFormat);
  return ajv;
}
