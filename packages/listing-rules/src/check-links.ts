import { type ListingDraft, webUrlPattern } from "@ehr-marketplace/contracts";
import { hasControlCharacter } from "./check-characters.ts";
import type { Report } from "./criteria.ts";

const webUrl = new RegExp(webUrlPattern);

/** Where the marketplace allows http, it is only on loopback addresses. */
export interface UrlRules {
  allowsHttp: boolean;
}

/** Returns the URL if it can be used. */
export function checkUrl(url: string, pointer: string, { allowsHttp }: UrlRules, report: Report): URL | undefined {
  const parsed = URL.parse(url);
  const isComplete = webUrl.test(url) && !hasControlCharacter(url) && parsed !== null;
  const isSecure = allowsHttp || parsed?.protocol === "https:";
  if (!isComplete || !isSecure || parsed.username !== "" || parsed.password !== "") {
    const detail = "Use a complete https URL without a user name, a password or control characters.";
    report(pointer, "url-invalid", detail);
    return undefined;
  }
  return parsed;
}

const requiredLinks = {
  supportUrl: "where users get help",
  privacyPolicyUrl: "the privacy policy",
  termsUrl: "the terms of service",
} as const;

export function checkLinks(draft: ListingDraft, rules: UrlRules, report: Report): void {
  for (const [field, what] of Object.entries(requiredLinks)) {
    const url = draft[field as keyof typeof requiredLinks] ?? "";
    if (url === "") report(`/${field}`, "link-missing", `Link to ${what}.`);
    else checkUrl(url, `/${field}`, rules, report);
  }
  for (const field of ["websiteUrl", "smartLaunchUrl", "cdsServicesUrl"] as const) {
    const url = draft[field];
    if (url !== undefined) checkUrl(url, `/${field}`, rules, report);
  }
  for (const [index, { evidenceUrl }] of (draft.trust?.certifications ?? []).entries()) {
    if (evidenceUrl !== undefined) checkUrl(evidenceUrl, `/trust/certifications/${index}/evidenceUrl`, rules, report);
  }
  const reportUrl = draft.trust?.accessibility?.reportUrl;
  if (reportUrl !== undefined) checkUrl(reportUrl, "/trust/accessibility/reportUrl", rules, report);
}
