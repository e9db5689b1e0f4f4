import { escapeName } from "@ehr-marketplace/config-schema";
import type { ListingDraft } from "@ehr-marketplace/contracts";
import type { Report } from "./criteria.ts";
import { normaliseScopes, parseScope, type ResourceScope, splitScopes } from "./scopes.ts";

/** The scopes of the draft that give access to resources. */
export function resourceScopesOf({ fhirScopes = "" }: ListingDraft): ResourceScope[] {
  return splitScopes(fhirScopes)
    .map(parseScope)
    .filter((scope) => scope !== null && scope !== undefined);
}

/** RFC 6749, appendix A.4. An empty text asks for nothing. */
const scopeList = /^(?:[!#-[\]-~]+(?: (?=[!#-[\]-~])|$))*$/;

export function checkScopes(draft: ListingDraft, report: Report): void {
  const texts = splitScopes(draft.fhirScopes ?? "");
  if (draft.fhirScopes !== undefined && !scopeList.test(draft.fhirScopes)) {
    const detail =
      "Separate scopes with single spaces, and use no other white space, quotation marks, backslashes or characters outside ASCII.";
    report("/fhirScopes", "scope-list-invalid", detail);
  }
  const purposes = new Map(Object.entries(draft.scopePurposes ?? {}));
  const seen = new Map<string, string>();
  const syntaxes = new Set<string>();
  for (const text of texts) {
    const scope = parseScope(text);
    if (scope === undefined) {
      const detail = `${quote(text)} is no scope: write, for example, patient/Observation.rs or patient/Observation.read.`;
      report("/fhirScopes", "scope-invalid", detail);
      continue;
    }
    const normal = normaliseScopes(text);
    const earlier = seen.get(normal);
    if (earlier !== undefined) {
      report("/fhirScopes", "scope-twice", `${quote(earlier)} asks for it already: remove ${quote(text)}.`);
    }
    seen.set(normal, text);
    if (scope === null) continue;
    syntaxes.add(scope.syntax);
    checkResourceScope(scope, purposes, report);
  }
  if (syntaxes.size > 1) {
    const detail = "Authorization servers read one of the two: write all scopes as .rs and the like, or all as .read.";
    report("/fhirScopes", "scope-syntax-mixed", detail);
  }
  for (const scope of purposes.keys()) {
    if (!texts.includes(scope)) {
      const detail = "fhirScopes doesn't have this scope: add it there, or remove its purpose.";
      report(`/scopePurposes/${escapeName(scope)}`, "scope-purpose-unused", detail);
    }
  }
}

function checkResourceScope(scope: ResourceScope, purposes: Map<string, string>, report: Report): void {
  const { text, resourceType, permissions } = scope;
  if (resourceType === "*") {
    const detail = `${quote(text)} is for every kind of resource. Practices trust apps that name what they need.`;
    report("/fhirScopes", "scope-broad", detail);
  } else if (permissions.size === 5) {
    const detail = `${quote(text)} allows to read, change and delete. Ask for what the app does only.`;
    report("/fhirScopes", "scope-broad", detail);
  }
  if ((purposes.get(text) ?? "").trim() === "") {
    const detail = `Say in one sentence what the app does with ${quote(text)}. Practices read it before they agree.`;
    report(`/scopePurposes/${escapeName(text)}`, "scope-purpose-missing", detail);
  }
}

export const quote = (text: string): string => JSON.stringify(text.slice(0, 100));
