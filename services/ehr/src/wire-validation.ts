import { Ajv2020, type AnySchemaObject } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

type WireReader<T> = (value: unknown) => { read: T } | { wrong: string };

/** Holds against its shape what comes from elsewhere. What the shape doesn't name is ignored. */
export function wireReader<T>(schema: AnySchemaObject, named: AnySchemaObject[] = []): WireReader<T> {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  addFormats.default(ajv);
  // The package's own takes `urn:uuid:…` as well, which PostgreSQL doesn't.
  ajv.addFormat("uuid", /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i);
  for (const each of named) ajv.addSchema(each);
  const validate = ajv.compile<T>(schema);
  return (value: unknown) => {
    if (validate(value)) return { read: value as T };
    const [error] = validate.errors ?? [];
    return { wrong: `${error?.instancePath ?? ""} ${error?.message ?? "is invalid"}` };
  };
}
