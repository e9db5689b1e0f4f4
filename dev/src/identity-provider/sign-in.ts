import { createHash, randomBytes } from "node:crypto";
import { consoleClientId, consoleRedirectUri } from "./clients.ts";
import type { Persona } from "./personas.ts";

export interface SignedIn {
  accessToken: string;
  idToken: string;
  refreshToken: string;
}

export type Browser = (url: string | URL, request?: RequestInit) => Promise<Response>;

/** A minimal browser for sign-in: it keeps cookies, and returns redirects instead of following them. */
export function openBrowser(): Browser {
  const cookies = new Map<string, string>();
  return async (url, request = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { ...request, redirect: "manual", headers: { cookie, accept: "text/html" } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  };
}

export function newPkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

function locationOf(response: Response): URL {
  return new URL(response.headers.get("location") ?? "", response.url);
}

/** Sends the authorization request, and returns the URL that it redirects to. */
export async function beginSignIn(browser: Browser, issuer: string, query: Record<string, string>): Promise<URL> {
  const url = new URL(`${issuer}/auth`);
  const all = { client_id: consoleClientId, redirect_uri: consoleRedirectUri, response_type: "code", ...query };
  url.search = new URLSearchParams(all).toString();
  return locationOf(await browser(url));
}

/** Submits the login page with the persona, and returns the redirect URL with the code. */
export async function choosePersona(browser: Browser, loginUrl: URL, persona: string): Promise<URL> {
  const chosen = await browser(loginUrl, { method: "POST", body: new URLSearchParams({ persona }) });
  return locationOf(await browser(locationOf(chosen)));
}

export function redeem(issuer: string, parameters: Record<string, string>, headers = {}): Promise<Response> {
  const body = new URLSearchParams({ client_id: consoleClientId, ...parameters });
  return fetch(`${issuer}/token`, { method: "POST", headers, body });
}

/** Signs a persona in to the console with the authorization code flow and PKCE. */
export async function signIn(issuer: string, persona: Persona, nonce?: string): Promise<SignedIn> {
  const browser = openBrowser();
  const { verifier, challenge } = newPkce();
  const loginUrl = await beginSignIn(browser, issuer, {
    scope: "openid",
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...(nonce !== undefined && { nonce }),
  });
  const back = await choosePersona(browser, loginUrl, persona);
  const response = await redeem(issuer, {
    grant_type: "authorization_code",
    code: back.searchParams.get("code") ?? "",
    redirect_uri: consoleRedirectUri,
    code_verifier: verifier,
  });
  const body = await response.text();
  if (!response.ok)
    throw new Error(`${persona} could not sign in. ${issuer} responded with ${response.status}: ${body}`);
  const tokens = JSON.parse(body) as { access_token: string; id_token: string; refresh_token: string };
  return { accessToken: tokens.access_token, idToken: tokens.id_token, refreshToken: tokens.refresh_token };
}
