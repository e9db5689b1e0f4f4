import {
  type IdentityProvider,
  type Persona,
  personaNames,
  startIdentityProvider,
} from "@ehr-marketplace/dev/identity-provider";
import type { CleanUp } from "./clean-up.ts";

export interface Callers {
  /** What a service needs in its environment to know them. */
  environment: { TOKEN_ISSUER: string; TOKEN_JWKS_URL: string };
  identityProvider: IdentityProvider;
  token(persona: Persona): string;
}

/** A real identity provider of the test's own, and a token of everyone whom it knows. */
export async function startCallers(cleanUp: CleanUp): Promise<Callers> {
  const identityProvider = await startIdentityProvider({ port: 0 });
  cleanUp(() => identityProvider.stop());
  const tokens = new Map<Persona, string>();
  for (const persona of personaNames) tokens.set(persona, await identityProvider.accessToken(persona));
  return {
    environment: { TOKEN_ISSUER: identityProvider.issuer, TOKEN_JWKS_URL: identityProvider.jwksUrl },
    identityProvider,
    token(persona) {
      const token = tokens.get(persona);
      if (token === undefined) throw new Error(`nobody is called ${persona}`);
      return token;
    },
  };
}

export interface Asking {
  method?: string;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Asks a path below the API's base path, with a token where one is given. */
export function ask(url: string, path: string, token: string | undefined, asking: Asking = {}): Promise<Response> {
  return askAt(`${url}/api/v1${path}`, token, asking);
}

export function askAt(url: string, token: string | undefined, asking: Asking): Promise<Response> {
  const { method = asking.body === undefined ? "GET" : "POST", body, headers } = asking;
  return fetch(url, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}
