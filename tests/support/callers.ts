import type { IdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { type Persona, personaNames, requestAccessToken } from "@ehr-marketplace/dev/identity-provider/client";
import { getSharedPart } from "@ehr-marketplace/test-kit";

export type Issuer = Pick<IdentityProvider, "issuer" | "jwksUrl" | "keys">;

export interface Callers {
  /** Environment variables with which a service accepts these tokens. */
  environment: { TOKEN_ISSUER: string; TOKEN_JWKS_URL: string };
  identityProvider: Issuer;
  token(persona: Persona): string;
}

/** The identity provider that all test files share, because each start takes half a second of CPU time. */
export const getSharedIssuer = (): Promise<Issuer> => getSharedPart("identity-provider");

/** Fetches a token for each persona: from the shared identity provider, or from the test's own one. */
export async function fetchCallers(ownProvider?: Issuer): Promise<Callers> {
  const identityProvider = ownProvider ?? (await getSharedIssuer());
  const { issuer, jwksUrl } = identityProvider;
  const tokens = new Map(
    await Promise.all(
      personaNames.map(async (persona) => [persona, await requestAccessToken(issuer, persona)] as const),
    ),
  );
  return {
    environment: { TOKEN_ISSUER: issuer, TOKEN_JWKS_URL: jwksUrl },
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
  /** Sent as JSON; bytes are sent as they are. */
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
    ...(body === undefined ? {} : { body: body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body) }),
  });
}
