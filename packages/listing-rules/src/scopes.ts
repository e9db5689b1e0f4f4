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

type Access = Pick<ResourceScope, "context" | "resourceType" | "query">;
type Grant = Access & { letters: Set<Letter> };

/** What scopes allow, in a form in which one scope is looked up in constant time. */
interface Granted {
  /** Scopes that give no access to resources, and texts that are no scopes. */
  others: Set<string>;
  grants: Map<string, Grant>;
}

const keyOf = ({ context, resourceType, query }: Access): string => `${context}/${resourceType}?${query}`;

function grant({ grants }: Granted, { context, resourceType, query }: Access, permissions: Iterable<Letter>): void {
  const key = keyOf({ context, resourceType, query });
  const known = grants.get(key) ?? { context, resourceType, query, letters: new Set<Letter>() };
  for (const letter of permissions) known.letters.add(letter);
  grants.set(key, known);
}

function indexScopes(texts: readonly string[]): Granted {
  const granted: Granted = { others: new Set(), grants: new Map() };
  for (const text of texts) {
    const scope = parseScope(text);
    if (scope === null || scope === undefined) granted.others.add(text);
    else grant(granted, scope, scope.permissions);
  }
  return granted;
}

/** Whether all resources of the scope are allowed to be accessed so. Restrictions are compared as they are written. */
function isGranted({ grants }: Granted, { context, resourceType, query }: Access, letter: Letter): boolean {
  for (const type of [resourceType, "*"]) {
    for (const restriction of [query, ""]) {
      const key = keyOf({ context, resourceType: type, query: restriction });
      if (grants.get(key)?.letters.has(letter) === true) return true;
    }
  }
  return false;
}

/** Writes a scope in the syntax of another one, if that syntax can say it: version 1 knows neither `.r` nor restrictions. */
function formatScope(
  syntax: ResourceScope["syntax"],
  { context, resourceType, query }: Access,
  access: Letter[],
): string {
  const inOrder = letters.filter((letter) => access.includes(letter)).join("");
  const [v1] = Object.entries(meaningOfV1).find(([, meaning]) => meaning.join("") === inOrder) ?? [];
  const written = syntax === "v1" && query === "" && v1 !== undefined ? v1 : inOrder;
  return `${context}/${resourceType}.${written}${query === "" ? "" : `?${query}`}`;
}

/** The scopes of `after`, as written there, that allow something that `before` doesn't. */
export function findAddedScopes(before: string, after: string): string[] {
  const granted = indexScopes(splitScopes(before));
  return [...new Set(splitScopes(after))].filter((text) => {
    const scope = parseScope(text);
    if (scope === null || scope === undefined) return !granted.others.has(text);
    return [...scope.permissions].some((letter) => !isGranted(granted, scope, letter));
  });
}

/**
 * The part of `current` that `agreed` doesn't cover: `patient/Observation.cud` of `.cruds` where `.rs` is agreed to. A scope of which
 * some resources only are covered is missing as a whole.
 */
export function missingScopes(current: string, agreed: string): string[] {
  const granted = indexScopes(splitScopes(agreed));
  const missing = splitScopes(current).flatMap((text) => {
    const scope = parseScope(text);
    if (scope === null || scope === undefined) return granted.others.has(text) ? [] : [text];
    const access = [...scope.permissions].filter((letter) => !isGranted(granted, scope, letter));
    if (access.length === scope.permissions.size) return [text];
    return access.length === 0 ? [] : [formatScope(scope.syntax, scope, access)];
  });
  return [...new Set(missing)];
}

/**
 * The part of `current` that `agreed` covers, in the order and, as far as it can say it, the syntax of `current`. Of a scope for all
 * resources it is those that were agreed to: `patient/Observation.rs` of `patient/*.rs`. It has no scope whose resources neither text
 * names, such as `patient/A.rs?x=1` of `patient/*.rs?x=1` and `patient/A.rs`: there could be a million of them.
 */
export function intersectScopes(current: string, agreed: string): string {
  const granted = indexScopes(splitScopes(agreed));
  const result: Granted = { others: new Set(), grants: new Map() };
  const scopes = [...new Set(splitScopes(current))].map((text) => ({ text, scope: parseScope(text) }));
  const whole = scopes.map(({ text, scope }) => {
    if (scope === null || scope === undefined) return granted.others.has(text) ? [text] : [];
    const access = [...scope.permissions].filter((letter) => isGranted(granted, scope, letter));
    grant(result, scope, access);
    if (access.length === scope.permissions.size) return [text];
    return access.length === 0 ? [] : [formatScope(scope.syntax, scope, access)];
  });
  // A narrower grant comes after those that may cover it, so that nothing is listed twice. Each is listed once, with what all scopes
  // that include it allow: otherwise the result could be many times as long as both texts.
  const narrower = new Map<number, string[]>();
  for (const given of [...granted.grants.values()].toSorted((a, b) => breadth(b) - breadth(a))) {
    const wider = scopes.flatMap(({ scope }, index) =>
      scope !== null && scope !== undefined && includes(scope, given) ? [{ scope, index }] : [],
    );
    const [first] = wider;
    const access = [...given.letters].filter(
      (letter) => wider.some(({ scope }) => scope.permissions.has(letter)) && !isGranted(result, given, letter),
    );
    if (first === undefined || access.length === 0) continue;
    grant(result, given, access);
    narrower.set(first.index, [...(narrower.get(first.index) ?? []), formatScope(first.scope.syntax, given, access)]);
  }
  const parts = whole.map((texts, index) => [...texts, ...(narrower.get(index) ?? [])]);
  return [...new Set(parts.flat())].join(" ");
}

const breadth = ({ resourceType, query }: Access): number => (query === "" ? 2 : 0) + (resourceType === "*" ? 1 : 0);

/** Whether all resources of the narrower one are resources of the wider one. */
const includes = (wider: Access, narrower: Access): boolean =>
  wider.context === narrower.context &&
  (wider.resourceType === "*" || wider.resourceType === narrower.resourceType) &&
  (wider.query === "" || wider.query === narrower.query);

/** One text for all ways to write the same scopes: version 2, sorted, each once. */
export function normaliseScopes(scopes: string): string {
  const normal = splitScopes(scopes).map((text) => {
    const scope = parseScope(text);
    if (scope === null || scope === undefined) return text;
    return formatScope("v2", scope, [...scope.permissions]);
  });
  return [...new Set(normal)].toSorted().join(" ");
}
