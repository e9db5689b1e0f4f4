import { type ConfigSecrets, configSecretsOf } from "./config-secrets.ts";
import { ExcessiveSchemaError, isSchemaObject, UnresolvableReferenceError } from "./schema-references.ts";

/** What is kept of an app's `configSchema`. */
export interface InspectedSchema {
  /** Its JSON; null: the app takes any object, or there is a problem. */
  text: string | null;
  /** Why no configuration can be checked against it. */
  problem: string | null;
  secrets: ConfigSecrets | null;
}

const mostBytes = 262_144;

/** Nothing is shown of a configuration whose secrets can't be told. */
const unusable = (problem: string): InspectedSchema => ({ text: null, problem, secrets: "all" });

/** What can be told of a schema at a glance: whether it can be used, and what of a configuration it keeps secret. */
export function inspectSchema(schema: unknown): InspectedSchema {
  if (schema === null) return { text: null, problem: null, secrets: null };
  if (!isSchemaObject(schema)) return unusable("it is no JSON object");
  try {
    const text = JSON.stringify(schema);
    if (Buffer.byteLength(text) > mostBytes) return unusable(`it has more than ${mostBytes / 1_024} KiB`);
    return { text, problem: null, secrets: configSecretsOf(schema) };
  } catch (error) {
    if (error instanceof UnresolvableReferenceError) {
      // As JSON, because PostgreSQL takes no NUL.
      const reference = JSON.stringify(error.message.slice(0, 200));
      return unusable(`it refers to ${reference}, which is not part of it, and nothing is fetched`);
    }
    if (error instanceof ExcessiveSchemaError) return unusable(error.message);
    // JSON.stringify is recursive, other than JSON.parse.
    if (error instanceof RangeError) return unusable("it nests too deep");
    throw error;
  }
}
