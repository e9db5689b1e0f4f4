/** The scopes of SMART App Launch 1 and 2, compared by meaning: `patient/Observation.read` is `patient/Observation.rs`. */

const letters = ["c", "r", "u", "d", "s"] as const;
type Letter = (typeof letters)[number];

export interface ResourceScope {
  text: string;
  syntax: "v1" | "v2";
  context: "patient" | "user" | "system";
  resourceType: string;
  permissions: ReadonlySet<Letter>;
  /** Restricts the scope to some resources, for example `category=laboratory`; empty if all are meant. */
  query: string;
}

const identityScopes = new Set(["openid", "fhirUser", "profile", "offline_access", "online_access", "launch"]);
const launchScope = /^launch\/[A-Za-z]+$/;
/** The query's values have the characters of a scope-token of RFC 6749, except & and ?. */
const resourceScope =
  /^(patient|user|system)\/([A-Z][A-Za-z]*|\*)[.](read|write|\*|(?=[cruds])c?r?u?d?s?)(?:\?([\w.:-]+=[!#-%'->@-[\]-~]+(?:&[\w.:-]+=[!#-%'->@-[\]-~]+)*))?$/;

const meaningOfV1: Record<string, readonly Letter[]> = { read: ["r", "s"], write: ["c", "u", "d"], "*": letters };

/** Returns undefined for text that is no scope of SMART, and null for a scope that gives no access to resources. */
export function parseScope(text: string): ResourceScope | null | undefined {
  if (identityScopes.has(text) || launchScope.test(text)) return null;
  const [, context, resourceType, access, query = ""] = resourceScope.exec(text) ?? [];
  if (context === undefined || resourceType === undefined || access === undefined) return undefined;
  const v1 = meaningOfV1[access];
  // Version 1 has no queries.
  if (v1 !== undefined && query !== "") return undefined;
  return {
    text,
    syntax: v1 === undefined ? "v2" : "v1",
    context: context as ResourceScope["context"],
    resourceType,
    permissions: new Set(v1 ?? letters.filter((letter) => access.includes(letter))),
    query: query.split("&").toSorted().join("&"),
  };
}

export const splitScopes = (scopes: string): string[] => scopes.split(/\s+/).filter((scope) => scope !== "");

const covers = (given: ResourceScope, added: ResourceScope, letter: Letter): boolean =>
  given.context === added.context &&
  (given.resourceType === "*" || given.resourceType === added.resourceType) &&
  given.permissions.has(letter) &&
  (given.query === "" || given.query === added.query);

/** The scopes of `after`, as written there, that allow something that `before` doesn't. */
export function findAddedScopes(before: string, after: string): string[] {
  const given = splitScopes(before);
  const givenTexts = new Set(given);
  const resources = given.map(parseScope).filter((scope) => scope !== null && scope !== undefined);
  return [...new Set(splitScopes(after))].filter((text) => {
    if (givenTexts.has(text)) return false;
    const added = parseScope(text);
    if (added === null || added === undefined) return true;
    return [...added.permissions].some((letter) => !resources.some((scope) => covers(scope, added, letter)));
  });
}

/** One text for all ways to write the same scopes: version 2, sorted, each once. */
export function normaliseScopes(scopes: string): string {
  const normal = splitScopes(scopes).map((text) => {
    const scope = parseScope(text);
    if (scope === null || scope === undefined) return text;
    const query = scope.query === "" ? "" : `?${scope.query}`;
    return `${scope.context}/${scope.resourceType}.${[...scope.permissions].join("")}${query}`;
  });
  return [...new Set(normal)].toSorted().join(" ");
}
