import { strictAjv } from "@ehr-marketplace/service-kit/http";
import type { AnySchemaObject } from "ajv/dist/2020.js";

type WireReader<T> = (value: unknown) => { read: T } | { wrong: string };

/** Holds against its shape what comes from elsewhere. What the shape doesn't name is ignored. */
export function wireReader<T>(schema: AnySchemaObject, named: AnySchemaObject[] = []): WireReader<T> {
  const ajv = strictAjv();
  for (const each of named) ajv.addSchema(each);
  const validate = ajv.compile<T>(schema);
  return (value: unknown) => {
    if (validate(value)) return { read: value as T };
    const [error] = validate.errors ?? [];
    return { wrong: `${error?.instancePath ?? ""} ${error?.message ?? "is invalid"}` };
  };
}
