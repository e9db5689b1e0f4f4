import { type ListingDraft, webUrlPattern } from "@ehr-marketplace/contracts";
import { hasControlCharacter } from "./check-characters.ts";
import type { Report } from "./criteria.ts";

const webUrl = new RegExp(webUrlPattern);

/** Where the marketplace allows http, it is only on loopback addresses. */
interface UrlRules {
  allowsHttp: boolean;
}

function checkUrl(url: string, pointer: string, { allowsHttp }: UrlRules, report: Report): void {
  const parsed = URL.parse(url);
  const isComplete = webUrl.test(url) && !hasControlCharacter(url) && parsed !== null;
  const isSecure = allowsHttp || parsed?.protocol === "https:";
  if (!isComplete || !isSecure || parsed.username !== "" || parsed.password !== "") {
    const detail = "Use a complete https URL without a user name, a password or control characters.";
    report(pointer, "url-invalid", detail);
  }
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

/** How the app authenticates: RFC 7591 client metadata is made of it. */
export function checkOauth({ oauth, smartLaunchUrl }: ListingDraft, rules: UrlRules, report: Report): void {
  if (oauth === undefined) {
    const detail = "Add `oauth`, so that an EHR's authorization server can register the app without asking you.";
    report("/oauth", "oauth-missing", detail);
    return;
  }
  const { type, redirectUris = [], jwksUri, grantTypes = [] } = oauth;
  if (type === undefined) report("/oauth/type", "oauth-incomplete", "Say PUBLIC (PKCE only) or ASYMMETRIC (a JWKS).");
  if (smartLaunchUrl !== undefined && redirectUris.length === 0) {
    const detail = "A SMART app is sent back to one of its redirect URIs: name them.";
    report("/oauth/redirectUris", "oauth-incomplete", detail);
  }
  for (const [index, uri] of redirectUris.entries()) checkUrl(uri, `/oauth/redirectUris/${index}`, rules, report);
  if (jwksUri !== undefined) checkUrl(jwksUri, "/oauth/jwksUri", rules, report);
  else if (type === "ASYMMETRIC") {
    report("/oauth/jwksUri", "oauth-incomplete", "A client of the type ASYMMETRIC publishes its keys: name their URL.");
  }
  if (type === "PUBLIC" && grantTypes.includes("client_credentials")) {
    const detail = "A public client can't authenticate by itself: use ASYMMETRIC for client_credentials.";
    report("/oauth/grantTypes", "oauth-incomplete", detail);
  }
}
