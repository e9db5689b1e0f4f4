import { type ListingDraft, webUrlPattern } from "@ehr-marketplace/contracts";
import { hasControlCharacter } from "./check-characters.ts";
import type { Report } from "./criteria.ts";

const webUrl = new RegExp(webUrlPattern);

function checkUrl(url: string, pointer: string, report: Report): void {
  const parsed = URL.parse(url);
  const isComplete = webUrl.test(url) && !hasControlCharacter(url) && parsed !== null;
  if (!isComplete || parsed.username !== "" || parsed.password !== "") {
    const detail = "Use a complete https URL without a user name, a password or control characters.";
    report(pointer, "url-invalid", detail);
  }
}

const requiredLinks = {
  supportUrl: "where users get help",
  privacyPolicyUrl: "the privacy policy",
  termsUrl: "the terms of service",
} as const;

export function checkLinks(draft: ListingDraft, report: Report): void {
  for (const [field, what] of Object.entries(requiredLinks)) {
    const url = draft[field as keyof typeof requiredLinks] ?? "";
    if (url === "") report(`/${field}`, "link-missing", `Link to ${what}.`);
    else checkUrl(url, `/${field}`, report);
  }
  for (const field of ["websiteUrl", "smartLaunchUrl", "cdsServicesUrl"] as const) {
    const url = draft[field];
    if (url !== undefined) checkUrl(url, `/${field}`, report);
  }
  for (const [index, { evidenceUrl }] of (draft.trust?.certifications ?? []).entries()) {
    if (evidenceUrl !== undefined) checkUrl(evidenceUrl, `/trust/certifications/${index}/evidenceUrl`, report);
  }
  const reportUrl = draft.trust?.accessibility?.reportUrl;
  if (reportUrl !== undefined) checkUrl(reportUrl, "/trust/accessibility/reportUrl", report);
}

/** How the app authenticates: RFC 7591 client metadata is made of it. */
export function checkOauth({ oauth, smartLaunchUrl }: ListingDraft, report: Report): void {
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
  for (const [index, uri] of redirectUris.entries()) checkUrl(uri, `/oauth/redirectUris/${index}`, report);
  if (jwksUri !== undefined) checkUrl(jwksUri, "/oauth/jwksUri", report);
  else if (type === "ASYMMETRIC") {
    report("/oauth/jwksUri", "oauth-incomplete", "A client of the type ASYMMETRIC publishes its keys: name their URL.");
  }
  if (type === "PUBLIC" && grantTypes.includes("client_credentials")) {
    const detail = "A public client can't authenticate by itself: use ASYMMETRIC for client_credentials.";
    report("/oauth/grantTypes", "oauth-incomplete", detail);
  }
}
