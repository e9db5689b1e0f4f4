export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Escapes a name for use in a JSON pointer (RFC 6901). */
export const escapeName = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

const unescapeName = (step: string): string => step.replaceAll("~1", "/").replaceAll("~0", "~");

/** Returns the property names of a JSON pointer. */
export const parsePointer = (pointer: string): string[] => pointer.split("/").slice(1).map(unescapeName);

export const maxJsonDepth = 64;

/** Recurses at most to the limit: a hostile document could otherwise overflow the call stack. */
export function isNestedTooDeep(value: unknown, levels = maxJsonDepth): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const parts: unknown[] = Array.isArray(value) ? value : Object.values(value);
  return parts.some((part) => isNestedTooDeep(part, levels - 1));
}

/** Returns the same text for equal JSON values, regardless of the order of properties. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const parts = Object.keys(value).toSorted();
  return `{${parts.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join()}}`;
}
