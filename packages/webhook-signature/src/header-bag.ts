/**
 * Request headers: the `Headers` of fetch, the `request.headers` of Node, Express or Fastify, or any object. Names are
 * case-insensitive.
 */
export type HeaderBag =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** Returns all values of a header; there are several if it was sent more than once. */
export function headerValues(headers: HeaderBag, name: string): string[] {
  if (typeof headers !== "object" || headers === null) return [];
  if (hasGet(headers)) {
    const value = headers.get(name);
    return typeof value === "string" ? [value] : [];
  }
  return Object.entries(headers)
    .filter(([key]) => key.toLowerCase() === name)
    .flatMap(([, value]) => value)
    .filter((value) => typeof value === "string");
}

function hasGet(headers: HeaderBag): headers is { get(name: string): string | null } {
  return typeof headers["get" as keyof HeaderBag] === "function";
}
