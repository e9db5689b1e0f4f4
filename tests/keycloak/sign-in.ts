import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import type { Realm } from "./realm.ts";

export interface SignIn {
  clientId: string;
  redirectUri: string;
  scope: string;
}

export interface TokenResponse {
  access_token?: string;
  refresh_token?: string;
  id_token?: string;
  scope?: string;
  error?: string;
  error_description?: string;
}

const newVerifier = (): string => randomBytes(32).toString("base64url");

/** The first request of a sign-in, which Keycloak responds to with its login page, or refuses. */
export function requestAuthorization(
  { issuer }: Realm,
  { clientId, redirectUri, scope }: SignIn,
  verifier?: string,
): Promise<Response> {
  const url = new URL(`${issuer}/protocol/openid-connect/auth`);
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state: "the-state",
    ...(verifier === undefined
      ? {}
      : {
          code_challenge: createHash("sha256").update(verifier).digest("base64url"),
          code_challenge_method: "S256",
        }),
  }).toString();
  return fetch(url, { redirect: "manual" });
}

/** Where Keycloak sends the user back to, with its error. */
export function parseRefusal(response: Response): { to: string; error: string | null } {
  const location = new URL(response.headers.get("location") ?? assert.fail(`${response.status}, without a location`));
  return { to: `${location.origin}${location.pathname}`, error: location.searchParams.get("error") };
}

/** Signs the realm's user in by Keycloak's login form, and returns the tokens of the authorization code with PKCE. */
export async function signIn(realm: Realm, request: SignIn): Promise<TokenResponse> {
  const verifier = newVerifier();
  const page = await requestAuthorization(realm, request, verifier);
  const html = await page.text();
  assert.equal(page.status, 200, html);
  const action = /<form[^>]* action="([^"]+)"/.exec(html)?.[1] ?? assert.fail("the login page has no form");
  const { username, password } = realm.user;
  const posted = await fetch(action.replaceAll("&amp;", "&"), {
    method: "POST",
    redirect: "manual",
    headers: {
      cookie: page.headers
        .getSetCookie()
        .map((cookie) => cookie.split(";", 1)[0])
        .join("; "),
    },
    body: new URLSearchParams({ username, password }),
  });
  assert.equal(posted.status, 302, await posted.text());
  const location = new URL(posted.headers.get("location") ?? "");
  assert.equal(`${location.origin}${location.pathname}`, request.redirectUri);
  return requestToken(realm, {
    grant_type: "authorization_code",
    client_id: request.clientId,
    redirect_uri: request.redirectUri,
    code: location.searchParams.get("code") ?? assert.fail(location.href),
    code_verifier: verifier,
  });
}

export async function requestToken({ issuer }: Realm, parameters: Record<string, string>): Promise<TokenResponse> {
  const response = await fetch(`${issuer}/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams(parameters),
  });
  return (await response.json()) as TokenResponse;
}
