import { type ConfigSchema, compileSchema, findSecrets, type JsonObject } from "@ehr-marketplace/config-schema";
import type { ErrorSchema, RJSFSchema, RJSFValidationError, ValidationData, ValidatorType } from "@rjsf/utils";

/** Values of one configuration, by the names of its properties. */
type Config = JsonObject;

const namesOf = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));

/** The value at a pointer, if every object on the way has it. */
function valueAt(config: unknown, pointer: string): unknown {
  return namesOf(pointer).reduce<unknown>(
    (value, name) => (typeof value === "object" && value !== null ? (value as Config)[name] : undefined),
    config,
  );
}

/** What is wrong with a configuration, by the rules that the EHR applies. A secret that is null keeps its stored value. */
export function findProblems(schema: ConfigSchema, config: Config) {
  const kept = new Set(findSecrets(schema).filter((pointer) => valueAt(config, pointer) === null));
  return compileSchema(schema)(config).filter(({ pointer }) => !kept.has(pointer));
}

/** Where the form finds the errors of a field. */
const errorsKey = "__errors";

/** The errors as the form needs them: at each field. */
function toErrorSchema(problems: readonly { pointer: string; detail: string }[]): ErrorSchema {
  // Without a prototype, because names of properties are the vendor's.
  const root = Object.create(null) as ErrorSchema;
  for (const { pointer, detail } of problems) {
    let at = root as Record<string, ErrorSchema> & ErrorSchema;
    for (const name of namesOf(pointer)) {
      at[name] ??= Object.create(null) as ErrorSchema;
      at = at[name] as typeof at;
    }
    at[errorsKey] = [...(at[errorsKey] ?? []), detail];
  }
  return root;
}

const asSchema = (schema: RJSFSchema): ConfigSchema => schema as unknown as ConfigSchema;

/** Validates with the code that the EHR uses. It interprets the schema, so the policy needs no exception for `eval`. */
export const configValidator: ValidatorType<Config> = {
  validateFormData(config, schema): ValidationData<Config> {
    const problems = findProblems(asSchema(schema), config ?? {});
    const errors: RJSFValidationError[] = problems.map(({ pointer, code, detail }) => ({
      name: code,
      message: detail,
      property: namesOf(pointer).join("."),
      stack: `${namesOf(pointer).join(".")} ${detail}`,
    }));
    return { errors, errorSchema: toErrorSchema(problems) };
  },
  isValid: (schema, config) => findProblems(asSchema(schema), config ?? {}).length === 0,
  rawValidation: () => ({ errors: [] }),
};
