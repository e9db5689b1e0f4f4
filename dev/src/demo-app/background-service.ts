import { randomUUID } from "node:crypto";
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, type JSONWebKeySet, SignJWT } from "jose";
import type { Connection } from "./connections.ts";

const algorithm = "ES384";
const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const timeoutMs = 5_000;

/** Whether the service could work for a practice now. The token itself stays in the service. */
export interface BackgroundAccess {
  orgAlias: string;
  /** Granted scopes; null without a token. */
  scope: string | null;
  expiresInSeconds: number | null;
  /** Why there is no token. */
  reason: string | null;
}

interface TokenResponse {
  access_token?: string;
  scope?: string;
  expires_in?: number;
  error?: string;
  error_description?: string;
}

/** An app's part that works without a user, by SMART Backend Services: it signs in with its own key. */
export interface BackgroundService {
  /** The public key, which the vendor publishes as `jwksUri`. */
  keys: JSONWebKeySet;
  requestAccess(connection: Connection, scope: string): Promise<BackgroundAccess>;
}

async function signAssertion(privateKey: CryptoKey, kid: string, clientId: string, audience: string): Promise<string> {
  return new SignJWT()
    .setProtectedHeader({ alg: algorithm, typ: "JWT", kid })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(audience)
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime("4 minutes")
    .sign(privateKey);
}

async function fetchJson<T>(url: string, request: RequestInit = {}): Promise<T> {
  const response = await fetch(url, { ...request, redirect: "error", signal: AbortSignal.timeout(timeoutMs) });
  return (await response.json()) as T;
}

/** The key is new at each start. `fhirServers` begins the URLs that tokens are requested for. */
export async function createBackgroundService(fhirServers: string): Promise<BackgroundService> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm);
  const key = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(key);

  async function requestToken(clientId: string, fhirBaseUrl: string, scope: string): Promise<TokenResponse> {
    const wellKnown = `${fhirBaseUrl}/.well-known/smart-configuration`;
    const { token_endpoint: tokenUrl } = await fetchJson<{ token_endpoint: string }>(wellKnown);
    return fetchJson<TokenResponse>(tokenUrl, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        scope,
        resource: fhirBaseUrl,
        client_assertion_type: assertionType,
        client_assertion: await signAssertion(privateKey, kid, clientId, tokenUrl),
      }),
    });
  }

  return {
    keys: { keys: [{ ...key, kid, alg: algorithm, use: "sig" }] },
    async requestAccess({ orgAlias, status, clientId, fhirBaseUrl, reason }, scope) {
      const none = { orgAlias, scope: null, expiresInSeconds: null };
      if (status !== "ready" || clientId === null || fhirBaseUrl === null) {
        return { ...none, reason: reason ?? "The practice's EHR is connecting the app." };
      }
      if (!fhirBaseUrl.startsWith(fhirServers)) return { ...none, reason: "The FHIR server isn't known here." };
      const response = await requestToken(clientId, fhirBaseUrl, scope);
      if (response.access_token === undefined) {
        return { ...none, reason: response.error_description ?? response.error ?? "No reason was given." };
      }
      return { orgAlias, scope: response.scope ?? "", expiresInSeconds: response.expires_in ?? null, reason: null };
    },
  };
}
