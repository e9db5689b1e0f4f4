import { createStrictAjv, describeErrors } from "@ehr-marketplace/service-kit/http";
import type { AnySchemaObject } from "ajv/dist/2020.js";
import type { FastifySchemaValidationError } from "fastify";

type Validate<T> = (value: unknown) => { value: T } | { error: string };

/** Validates values from other services. Properties that the schema doesn't name are ignored. */
export function createValidator<T>(schema: AnySchemaObject, referenced: AnySchemaObject[] = []): Validate<T> {
  const ajv = createStrictAjv({ verbose: true });
  for (const each of referenced) ajv.addSchema(each);
  const validate = ajv.compile<T>(schema);
  return (value: unknown) => {
    if (validate(value)) return { value: value as T };
    const [first] = describeErrors("", (validate.errors ?? []) as FastifySchemaValidationError[]);
    return { error: first === undefined ? " is invalid" : `${first.pointer} ${first.detail}` };
  };
}
