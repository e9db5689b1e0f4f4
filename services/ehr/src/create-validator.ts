import { createStrictAjv } from "@ehr-marketplace/service-kit/http";
import type { AnySchemaObject } from "ajv/dist/2020.js";

type Validate<T> = (value: unknown) => { value: T } | { error: string };

/** Validates values from other services. Properties that the schema doesn't name are ignored. */
export function createValidator<T>(schema: AnySchemaObject, referenced: AnySchemaObject[] = []): Validate<T> {
  const ajv = createStrictAjv();
  for (const each of referenced) ajv.addSchema(each);
  const validate = ajv.compile<T>(schema);
  return (value: unknown) => {
    if (validate(value)) return { value: value as T };
    const [error] = validate.errors ?? [];
    return { error: `${error?.instancePath ?? ""} ${error?.message ?? "is invalid"}` };
  };
}
