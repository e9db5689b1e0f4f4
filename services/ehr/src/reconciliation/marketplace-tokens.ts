import { LRUCache } from "lru-cache";
import {
  allowInsecureRequests,
  ClientSecretBasic,
  Configuration,
  clientCredentialsGrant,
  ResponseBodyError,
} from "openid-client";
import { MarketplaceRefusalError, MarketplaceUnavailableError } from "./reconciliation-errors.ts";

export interface MarketplaceCredentials {
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  /** Further parameters of the token request, form-encoded; with {orgAlias} each organisation has its own token. */
  parameters: string;
  /** For development: the identity provider of the local stack uses plain http. */
  plainHttp: boolean;
}

export interface MarketplaceTokens {
  /** Returns a token for this organisation that doesn't expire soon. */
  get(orgAlias: string): Promise<string>;
  /** Removes a token that the marketplace refused. */
  invalidate(token: string): void;
}

const timeoutSeconds = 10;
const expiryMarginMs = 60_000;
const minLifetimeMs = 1_000;
const maxCachedTokens = 100;

interface CachedToken {
  promise: Promise<string>;
  token: string | undefined;
  until: number;
}

/** Caches this service's own tokens (OAuth 2.0 client credentials), and requests a new one shortly before the old one expires. */
export function createMarketplaceTokens(credentials: MarketplaceCredentials, clock: () => Date): MarketplaceTokens {
  const { tokenUrl, clientId, clientSecret } = credentials;
  const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl };
  const configuration = new Configuration(server, clientId, clientSecret, ClientSecretBasic(clientSecret));
  configuration.timeout = timeoutSeconds;
  // oxlint-disable-next-line typescript/no-deprecated -- deprecated only to stand out; never called in production
  if (credentials.plainHttp) allowInsecureRequests(configuration);
  const cache = new LRUCache<string, CachedToken>({ max: maxCachedTokens });

  const requestToken = (parameters: string): Promise<string> => {
    const entry: CachedToken = { promise: Promise.resolve(""), token: undefined, until: Infinity };
    entry.promise = clientCredentialsGrant(configuration, new URLSearchParams(parameters)).then(
      (granted) => {
        const lifetimeMs = (granted.expiresIn() ?? 0) * 1_000;
        entry.token = granted.access_token;
        entry.until = clock().getTime() + Math.max(lifetimeMs - expiryMarginMs, minLifetimeMs);
        return granted.access_token;
      },
      (error: unknown) => {
        if (cache.peek(parameters) === entry) cache.delete(parameters);
        throw failureOf(error);
      },
    );
    cache.set(parameters, entry);
    return entry.promise;
  };

  return {
    get(orgAlias) {
      const parameters = credentials.parameters.replaceAll("{orgAlias}", encodeURIComponent(orgAlias));
      const cached = cache.get(parameters);
      return cached !== undefined && clock().getTime() < cached.until ? cached.promise : requestToken(parameters);
    },
    invalidate(token) {
      for (const [parameters, cached] of cache.entries()) if (cached.token === token) cache.delete(parameters);
    },
  };
}

/** A wrong client secret (401) affects all organisations and counts as unavailable, so that jobs retry once it is corrected; 400 and 403 are refusals. */
function failureOf(error: unknown): Error {
  if (error instanceof ResponseBodyError && (error.status === 400 || error.status === 403)) {
    return new MarketplaceRefusalError(`the identity provider refuses a token for the organisation (${error.error})`, {
      cause: error,
    });
  }
  return new MarketplaceUnavailableError("failed to get a token for the marketplace from the identity provider", {
    cause: error,
  });
}
