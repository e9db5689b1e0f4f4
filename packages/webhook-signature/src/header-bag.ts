/**
 * Headers in whatever a server keeps them: the `Headers` of fetch, the `request.headers` of Node, Express or Fastify,
 * or an object of your own. Names may be written in any case.
 */
export type HeaderBag =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** Every value of one header; more than one when it was sent more than once. */
export function headerValues(headers: HeaderBag, name: string): string[] {
  if (typeof headers !== "object" || headers === null) return [];
  if (isGettable(headers)) {
    const value = headers.get(name);
    return typeof value === "string" ? [value] : [];
  }
  return Object.entries(headers)
    .filter(([written]) => written.toLowerCase() === name)
    .flatMap(([, value]) => value)
    .filter((value) => typeof value === "string");
}

function isGettable(headers: HeaderBag): headers is { get(name: string): string | null } {
  return typeof headers["get" as keyof HeaderBag] === "function";
}
