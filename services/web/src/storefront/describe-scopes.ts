import { parseScope, type ResourceScope, splitScopes } from "@ehr-marketplace/listing-rules/scopes";
import { formatList } from "./format.ts";
import { scopeTexts } from "./scope-texts.ts";

export interface DescribedScope {
  scope: string;
  /** Such as "Allergies". */
  text: string;
  /** In the vendor's words. */
  purpose: string | undefined;
}

/** Scopes for the same records, such as those "of the patient whose chart is open". */
export interface ScopeGroup {
  subject: string;
  scopes: DescribedScope[];
}

/** What an app may do with data, in plain words. */
export interface DescribedAccess {
  reads: ScopeGroup[];
  writes: ScopeGroup[];
  /** Signing in, and access that outlasts it. */
  others: DescribedScope[];
  /** As the app requests them. */
  scopes: string[];
}

const capitalise = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** "ServiceRequest" as "service request", for types without a text. */
const splitName = (name: string): string => name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();

function describeResources({ resourceType, query }: ResourceScope): string {
  const { resources, restricted, everything } = scopeTexts;
  const noun = resourceType === "*" ? everything : (resources[resourceType] ?? `${splitName(resourceType)} records`);
  return `${noun}${query === "" ? "" : ` (${restricted(describeQuery(query))})`}`;
}

/** `category=http://…|laboratory` as "category laboratory": the code says enough to most readers, and the scope is beside it. */
const describeQuery = (query: string): string =>
  formatList(query.split("&").map((part) => part.replace(/=(?:.*\|)?/, " ")));

function describeWrite(scope: ResourceScope): string {
  const { creates, changes, deletes } = scopeTexts;
  const verbs = [
    scope.permissions.has("c") ? creates : undefined,
    scope.permissions.has("u") ? changes : undefined,
    scope.permissions.has("d") ? deletes : undefined,
  ].filter((verb) => verb !== undefined);
  return `${formatList(verbs)} ${describeResources(scope)}`;
}

function addToGroup(groups: ScopeGroup[], { context }: ResourceScope, described: DescribedScope): void {
  const subject = scopeTexts.subjects[context];
  const group = groups.find((each) => each.subject === subject);
  if (group === undefined) groups.push({ subject, scopes: [described] });
  else group.scopes.push(described);
}

export function describeAccess(fhirScopes: string, purposes: Record<string, string>): DescribedAccess {
  const scopes = [...new Set(splitScopes(fhirScopes))];
  const access: DescribedAccess = { reads: [], writes: [], others: [], scopes };
  for (const scope of scopes) {
    const purpose = Object.hasOwn(purposes, scope) ? purposes[scope] : undefined;
    const parsed = parseScope(scope);
    if (parsed === null || parsed === undefined) {
      const text = scopeTexts.others[scope] ?? (parsed === null ? scopeTexts.launchContext : scopeTexts.unknown(scope));
      access.others.push({ scope, text, purpose });
      continue;
    }
    const has = (letters: string): boolean => [...parsed.permissions].some((letter) => letters.includes(letter));
    const add = (groups: ScopeGroup[], text: string): void =>
      addToGroup(groups, parsed, { scope, text: capitalise(text), purpose });
    if (has("rs")) add(access.reads, describeResources(parsed));
    if (has("cud")) add(access.writes, describeWrite(parsed));
  }
  return access;
}
