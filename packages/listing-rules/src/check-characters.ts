import { hasInvisibleCharacter, type ListingDraft } from "@ehr-marketplace/contracts";
import type { Report } from "./criteria.ts";

/** Control characters, line separators, and the marks that change the direction of text and so what a reader sees. */
const forbidden = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

export const hasControlCharacter = (text: string): boolean => forbidden.test(text);

/** Names and other texts of one line. URLs and scopes have stricter rules of their own. */
export function checkCharacters(draft: ListingDraft, report: Report): void {
  const check = (pointer: string, text: string | null | undefined): void => {
    // A blank text is reported as missing.
    if (typeof text !== "string" || text.trim() === "" || !hasControlCharacter(text)) return;
    const detail = "It has a line break, a tab or another control character: remove it.";
    report(pointer, "control-character", detail);
  };
  /** Names, with which one app or plan could pose as another. */
  const checkName = (pointer: string, name: string | null | undefined): void => {
    if (typeof name === "string" && hasInvisibleCharacter(name) && !hasControlCharacter(name)) {
      const detail = "It has a character that readers can't see, such as a zero-width space or a joiner: remove it.";
      report(pointer, "invisible-character", detail);
    } else check(pointer, name);
  };
  const checkEach = (pointer: string, texts: readonly string[] = []): void => {
    for (const [index, text] of texts.entries()) check(`${pointer}/${index}`, text);
  };
  checkName("/name", draft.name);
  for (const field of ["summary", "version"] as const) check(`/${field}`, draft[field]);
  checkEach("/oauth/grantTypes", draft.oauth?.grantTypes);
  checkEach("/oauth/contacts", draft.oauth?.contacts);
  for (const [index, { text }] of (draft.screenshots ?? []).entries()) check(`/screenshots/${index}/text`, text);
  const { certifications = [], dataHandling, accessibility } = draft.trust ?? {};
  for (const [index, { kind }] of certifications.entries()) check(`/trust/certifications/${index}/kind`, kind);
  checkEach("/trust/dataHandling/regions", dataHandling?.regions);
  checkEach("/trust/dataHandling/subprocessors", dataHandling?.subprocessors);
  check("/trust/accessibility/standard", accessibility?.standard);
  for (const [index, plan] of (draft.plans ?? []).entries()) {
    for (const field of ["name", "unitName"] as const) checkName(`/plans/${index}/${field}`, plan[field]);
    check(`/plans/${index}/metric`, plan.metric);
    checkEach(`/plans/${index}/features`, plan.features);
  }
}
