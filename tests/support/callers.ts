import {
  type IdentityProvider,
  type Persona,
  personaNames,
  startIdentityProvider,
} from "@ehr-marketplace/dev/identity-provider";
import type { CleanUp } from "@ehr-marketplace/test-kit";

export interface Callers {
  /** Environment variables with which a service accepts these tokens. */
  environment: { TOKEN_ISSUER: string; TOKEN_JWKS_URL: string };
  identityProvider: IdentityProvider;
  token(persona: Persona): string;
}

/** Starts an identity provider for the test and fetches a token for each persona. */
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
      if (token === undefined) throw new Error(`unknown persona: ${persona}`);
      return token;
    },
  };
}

export interface RequestOptions {
  method?: string;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Sends a request to a path below the API's base path, with a token if one is given. */
export function sendApiRequest(
  url: string,
  path: string,
  token: string | undefined,
  options: RequestOptions = {},
): Promise<Response> {
  return sendRequest(`${url}/api/v1${path}`, token, options);
}

export function sendRequest(url: string, token: string | undefined, options: RequestOptions): Promise<Response> {
  const { method = options.body === undefined ? "GET" : "POST", body, headers } = options;
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
