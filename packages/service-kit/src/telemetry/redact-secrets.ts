const secretName = /authorization|cookie|secret|password|token|api[-_]?key|signature|^launch$/i;
/** The names of fields are few, and each line has the same; but objects from elsewhere may have any. */
const maxKnownNames = 1_000;
const knownNames = new Map<string, boolean>();

function isSecretName(name: string): boolean {
  let isSecret = knownNames.get(name);
  if (isSecret === undefined) {
    isSecret = secretName.test(name);
    if (knownNames.size < maxKnownNames) knownNames.set(name, isSecret);
  }
  return isSecret;
}

const redacted = "[redacted]";
const maxDepth = 10;

/** Copies the fields with the values of secret names redacted. The paths of Pino's `redact` reach less deep, at ten times the cost. */
export function redactSecrets(fields: object): Record<string, unknown> {
  return redactFields(fields, maxDepth);
}

function redactFields(fields: object, depth: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    copy[name] = value !== undefined && isSecretName(name) ? redacted : redactValue(value, depth);
  }
  return copy;
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || value instanceof Error || "toJSON" in value) return value;
  if (depth === 0) return "[too deep to be logged]";
  if (Array.isArray(value)) return value.map((each) => redactValue(each, depth - 1));
  return redactFields(value, depth - 1);
}

/** Redacts the credentials of URLs: connection strings carry passwords into messages and stacks, where no field name marks them. */
export function redactCredentials(line: string): string {
  return line.includes("://") ? line.replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/"]+@/gi, `$1${redacted}@`) : line;
}
