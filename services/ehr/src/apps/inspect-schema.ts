import { type ConfigSchema, checkSchema, everything, findSecrets } from "@ehr-marketplace/config-schema";

/** What is stored of an app's `configSchema`. */
export interface InspectedSchema {
  /** Its JSON; null: the app takes any object, or there is a problem. */
  text: string | null;
  /** Why the schema can't be used. */
  problem: string | null;
  /** Pointers to the values that only the EHR's backend reads; null: none. */
  secrets: string[] | null;
}

const maxProblemsTold = 3;
const maxProblemLength = 1_000;

/** Of a configuration whose schema has a problem, no value is shown: nobody can tell which of them are secret. */
export function inspectSchema(schema: unknown): InspectedSchema {
  if (schema === null) return { text: null, problem: null, secrets: null };
  const problems = checkSchema(schema);
  if (problems.length > 0) {
    const told = problems
      .slice(0, maxProblemsTold)
      .map(({ pointer, detail }) => `${JSON.stringify(pointer)}: ${detail}`);
    const more = problems.length > told.length ? ` And ${problems.length - told.length} more.` : "";
    return { text: null, problem: `${told.join(" ")}${more}`.slice(0, maxProblemLength), secrets: [everything] };
  }
  const secrets = findSecrets(schema as ConfigSchema);
  return { text: JSON.stringify(schema), problem: null, secrets: secrets.length === 0 ? null : secrets };
}
