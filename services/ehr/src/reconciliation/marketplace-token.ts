import { LRUCache } from "lru-cache";
import {
  allowInsecureRequests,
  ClientSecretBasic,
  Configuration,
  clientCredentialsGrant,
  ResponseBodyError,
} from "openid-client";
import { MarketplaceAwayError, MarketplaceRefusesError } from "./marketplace-failures.ts";

export interface MarketplaceCredentials {
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  /** What the identity provider wants to be told beside, form-encoded; with {orgAlias} in it, each organisation has a token of its own. */
  parameters: string;
  /** For development: the identity provider of the local stack has no certificate. */
  plainHttp: boolean;
}

export interface MarketplaceToken {
  /** One that names this organisation and is good for a while yet. */
  get(orgAlias: string): Promise<string>;
  /** The marketplace refused it, whatever it says of itself. */
  forget(token: string): void;
}

const timeoutSeconds = 10;
const sparedMs = 60_000;
const shortestLifeMs = 1_000;
const mostHeld = 100;

interface Held {
  asked: Promise<string>;
  token: string | undefined;
  until: number;
}

/** A token for this service itself, by OAuth 2.0 client credentials; asked for again only when it is about to end. */
export function createMarketplaceToken(credentials: MarketplaceCredentials, clock: () => Date): MarketplaceToken {
  const { tokenUrl, clientId, clientSecret } = credentials;
  const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl };
  const configuration = new Configuration(server, clientId, clientSecret, ClientSecretBasic(clientSecret));
  configuration.timeout = timeoutSeconds;
  // oxlint-disable-next-line typescript/no-deprecated -- deprecated so that it stands out: production never gets here
  if (credentials.plainHttp) allowInsecureRequests(configuration);
  const heldBy = new LRUCache<string, Held>({ max: mostHeld });

  const ask = (parameters: string): Promise<string> => {
    const asking: Held = { asked: Promise.resolve(""), token: undefined, until: Infinity };
    asking.asked = clientCredentialsGrant(configuration, new URLSearchParams(parameters)).then(
      (granted) => {
        const livesMs = (granted.expiresIn() ?? 0) * 1_000;
        asking.token = granted.access_token;
        asking.until = clock().getTime() + Math.max(livesMs - sparedMs, shortestLifeMs);
        return granted.access_token;
      },
      (error: unknown) => {
        if (heldBy.peek(parameters) === asking) heldBy.delete(parameters);
        throw failureOf(error);
      },
    );
    heldBy.set(parameters, asking);
    return asking.asked;
  };

  return {
    get(orgAlias) {
      const parameters = credentials.parameters.replaceAll("{orgAlias}", encodeURIComponent(orgAlias));
      const held = heldBy.get(parameters);
      return held !== undefined && clock().getTime() < held.until ? held.asked : ask(parameters);
    },
    forget(token) {
      for (const [parameters, held] of heldBy.entries()) if (held.token === token) heldBy.delete(parameters);
    },
  };
}

/** A wrong secret concerns all organisations, and whoever sets it right need not ask for each again; another refusal, this one. */
function failureOf(error: unknown): Error {
  if (error instanceof ResponseBodyError && (error.status === 400 || error.status === 403)) {
    return new MarketplaceRefusesError(`the identity provider gives no token for it (${error.error})`, {
      cause: error,
    });
  }
  return new MarketplaceAwayError("the identity provider gives no token for the marketplace", { cause: error });
}
