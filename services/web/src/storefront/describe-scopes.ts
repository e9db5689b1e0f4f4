import { parseScope, type ResourceScope, splitScopes } from "@ehr-marketplace/listing-rules/scopes";
import { formatList } from "./format.ts";
import { scopeTexts } from "./scope-texts.ts";

export interface DescribedScope {
  scope: string;
  /** Such as "Allergies of the patient whose chart is open". */
  text: string;
  /** In the vendor's words. */
  purpose: string | undefined;
}

/** What an app may do with data, in plain words. */
export interface DescribedAccess {
  reads: DescribedScope[];
  writes: DescribedScope[];
  /** Signing in, and access that outlasts it. */
  others: DescribedScope[];
  /** As the app requests them. */
  scopes: string[];
}

const capitalise = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** "ServiceRequest" as "service request", for types without a text. */
const splitName = (name: string): string => name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();

function describeResources({ resourceType, context, query }: ResourceScope): string {
  const { resources, subjects, restricted, everything } = scopeTexts;
  const noun = resourceType === "*" ? everything : (resources[resourceType] ?? `${splitName(resourceType)} records`);
  return `${noun} ${subjects[context]}${query === "" ? "" : ` (${restricted(describeQuery(query))})`}`;
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
  return `${capitalise(formatList(verbs))} ${describeResources(scope)}`;
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
    if (has("rs")) access.reads.push({ scope, text: capitalise(describeResources(parsed)), purpose });
    if (has("cud")) access.writes.push({ scope, text: describeWrite(parsed), purpose });
  }
  return access;
}
