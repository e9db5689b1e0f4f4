import { type ConfigSchema, checkSchema, everything, findSecrets } from "@ehr-marketplace/config-schema";

/** An app's `configSchema`, as it is stored. */
export interface InspectedSchema {
  /** The schema's JSON; null: the app accepts any object, or the schema has a problem. */
  text: string | null;
  /** The reason why the schema can't be used; null: it can. */
  problem: string | null;
  /** Pointers to the values that only the EHR's backend reads; null: none. */
  secrets: string[] | null;
}

const maxProblemsListed = 3;
const maxProblemLength = 1_000;

/** A schema with a problem makes every value of a configuration secret, since the marks of its secrets can't be read. */
export function inspectSchema(schema: unknown): InspectedSchema {
  if (schema === null) return { text: null, problem: null, secrets: null };
  const problems = checkSchema(schema);
  if (problems.length > 0) {
    const listed = problems
      .slice(0, maxProblemsListed)
      .map(({ pointer, detail }) => `${JSON.stringify(pointer)}: ${detail}`);
    const more = problems.length > listed.length ? ` And ${problems.length - listed.length} more.` : "";
    return { text: null, problem: `${listed.join(" ")}${more}`.slice(0, maxProblemLength), secrets: [everything] };
  }
  const secrets = findSecrets(schema as ConfigSchema);
  return { text: JSON.stringify(schema), problem: null, secrets: secrets.length === 0 ? null : secrets };
}
