import { clientGrantTypes, type ListingDraft, maxClientMetadataBytes } from "@ehr-marketplace/contracts";
import { checkUrl, type UrlRules } from "./check-links.ts";
import { buildClientMetadata, findGrantTypes, measureClientMetadata } from "./client-metadata.ts";
import type { Report } from "./criteria.ts";
import { isPublicHost } from "./public-host.ts";

/** How the app authenticates: RFC 7591 client metadata is made of it. */
export function checkOauth(draft: ListingDraft, rules: UrlRules, report: Report): void {
  const { oauth, smartLaunchUrl } = draft;
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
  const launchHost = smartLaunchUrl === undefined ? undefined : URL.parse(smartLaunchUrl)?.hostname;
  for (const [index, uri] of redirectUris.entries()) {
    checkRedirectUri(uri, `/oauth/redirectUris/${index}`, { ...rules, launchHost }, report);
  }
  if (jwksUri !== undefined) {
    const parsed = checkUrl(jwksUri, "/oauth/jwksUri", rules, report);
    if (parsed !== undefined) checkHost(parsed, "/oauth/jwksUri", rules, report);
  } else if (type === "ASYMMETRIC") {
    report("/oauth/jwksUri", "oauth-incomplete", "A client of the type ASYMMETRIC publishes its keys: name their URL.");
  }
  for (const [index, grantType] of grantTypes.entries()) {
    if (clientGrantTypes.some((each) => each === grantType)) continue;
    report(`/oauth/grantTypes/${index}`, "grant-type-unknown", `Use ${clientGrantTypes.join(", ")}, or name none.`);
  }
  if (type === "PUBLIC" && grantTypes.includes("client_credentials")) {
    const detail = "A public client can't authenticate by itself: use ASYMMETRIC for client_credentials.";
    report("/oauth/grantTypes", "oauth-incomplete", detail);
  } else {
    checkSignIn(draft, report);
  }
  checkMetadataSize(draft, report);
}

/** The grants that result must be of use: without them an EHR would refuse the client, after the review. */
function checkSignIn(draft: ListingDraft, report: Report): void {
  const { oauth: { redirectUris = [] } = {}, smartLaunchUrl, fhirScopes = "" } = draft;
  const grants = findGrantTypes(draft);
  const hasCodes = grants.includes("authorization_code");
  if (smartLaunchUrl === undefined && hasCodes && redirectUris.length === 0) {
    report("/oauth/redirectUris", "oauth-incomplete", "Codes are sent to a redirect URI: name one.");
  } else if (smartLaunchUrl !== undefined && !hasCodes && redirectUris.length > 0) {
    const detail = "The app is launched, and signs in with authorization_code: name it here.";
    report("/oauth/grantTypes", "oauth-incomplete", detail);
  } else if (/\bsystem\//.test(fhirScopes) && !hasCodes && !grants.includes("client_credentials")) {
    const detail = "A backend service with system/ scopes signs in with its keys: use ASYMMETRIC, and name their URL.";
    report("/oauth", "oauth-incomplete", detail);
  }
}

/** An authorization server compares redirect URIs exactly, so that nobody else receives the app's codes. */
function checkRedirectUri(
  uri: string,
  pointer: string,
  rules: UrlRules & { launchHost: string | undefined },
  report: Report,
): void {
  const parsed = checkUrl(uri, pointer, rules, report);
  if (parsed === undefined) return;
  // The parser drops a fragment that is empty, and decodes the host.
  if (/[*#]|%2a/i.test(uri) || parsed.hostname.includes("*")) {
    report(pointer, "redirect-uri-invalid", "Name each redirect URI in full, without * and without a fragment (#).");
    return;
  }
  if (!checkHost(parsed, pointer, rules, report)) return;
  const { launchHost } = rules;
  const isSameHost = parsed.hostname === launchHost || (isLoopback(parsed.hostname) && isLoopback(launchHost ?? ""));
  if (launchHost !== undefined && !isSameHost) {
    const detail = `Codes are sent to ${parsed.hostname}, and the app is launched at ${launchHost}: a reviewer will ask whether both are yours.`;
    report(pointer, "redirect-uri-elsewhere", detail);
  }
}

/** Authorization servers fetch keys, and browsers follow redirects: neither may be led into the network of an EHR's operator. */
function checkHost(url: URL, pointer: string, { allowsHttp }: UrlRules, report: Report): boolean {
  if (allowsHttp || isPublicHost(url)) return true;
  report(pointer, "oauth-host-not-public", "Use a public host name: no IP address, and no name of a private network.");
  return false;
}

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);

/** Reserved for the two URLs that a draft doesn't have: those of the document and of the icon. */
const reservedUrl = "https://".padEnd(256, "x");
const reservedId = "0".repeat(36);

function checkMetadataSize(draft: ListingDraft, report: Report): void {
  const metadata = buildClientMetadata({ draft, clientId: reservedUrl, appId: reservedId, logoUri: reservedUrl });
  const bytes = metadata === undefined ? 0 : measureClientMetadata(metadata);
  if (bytes > maxClientMetadataBytes) {
    const detail = `With name, links and scopes, the client's metadata has ${bytes} bytes; the limit is ${maxClientMetadataBytes}. Name fewer redirect URIs, contacts or scopes.`;
    report("/oauth", "client-metadata-too-large", detail);
  }
}
