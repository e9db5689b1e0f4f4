import { escapePointerSegment } from "./problem.ts";

/**
 * Returns the JSON Pointer of the first NUL, the only character that PostgreSQL's text can't store. It recurses, so the
 * value's depth must be bounded: `registerJsonParser` refuses bodies that nest too deep.
 */
export function findNul(value: unknown, name: string): string | undefined {
  const pointer = `/${escapePointerSegment(name)}`;
  if (typeof value === "string") return value.includes("\0") ? pointer : undefined;
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return undefined;
  for (const [key, each] of Object.entries(value)) {
    if (key.includes("\0")) return pointer;
    const below = findNul(each, key);
    if (below !== undefined) return pointer + below;
  }
  return undefined;
}
