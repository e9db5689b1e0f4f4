export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** One step of a JSON pointer (RFC 6901). */
export const escapeName = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

const unescapeName = (step: string): string => step.replaceAll("~1", "/").replaceAll("~0", "~");

/** The property names that a pointer consists of. */
export const parsePointer = (pointer: string): string[] => pointer.split("/").slice(1).map(unescapeName);

export const maxJsonDepth = 64;

/** Recursive, but never deeper than the limit: a hostile document nests deeper than the call stack. */
export function nestsTooDeep(value: unknown, levels = maxJsonDepth): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const parts: unknown[] = Array.isArray(value) ? value : Object.values(value);
  return parts.some((part) => nestsTooDeep(part, levels - 1));
}

/** The same text for equal JSON values, in whatever order their properties are. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const parts = Object.keys(value).toSorted();
  return `{${parts.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join()}}`;
}
