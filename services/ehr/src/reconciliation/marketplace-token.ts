import { allowInsecureRequests, ClientSecretBasic, Configuration, clientCredentialsGrant } from "openid-client";
import { MarketplaceAwayError } from "./marketplace-failures.ts";

export interface MarketplaceCredentials {
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  /** For development: the identity provider of the local stack has no certificate. */
  plainHttp: boolean;
}

export interface MarketplaceToken {
  /** One that is good for a while yet. */
  get(): Promise<string>;
  /** The marketplace refused it, whatever it says of itself. */
  forget(token: string): void;
}

const timeoutSeconds = 10;
const sparedMs = 60_000;
const shortestLifeMs = 1_000;

/** A token for this service itself, by OAuth 2.0 client credentials; asked for again only when it is about to end. */
export function createMarketplaceToken(credentials: MarketplaceCredentials, clock: () => Date): MarketplaceToken {
  const { tokenUrl, clientId, clientSecret } = credentials;
  const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl };
  const configuration = new Configuration(server, clientId, clientSecret, ClientSecretBasic(clientSecret));
  configuration.timeout = timeoutSeconds;
  // oxlint-disable-next-line typescript/no-deprecated -- deprecated so that it stands out: production never gets here
  if (credentials.plainHttp) allowInsecureRequests(configuration);
  let held: { asked: Promise<string>; token: string | undefined; until: number } | undefined;

  const ask = (): Promise<string> => {
    const asking = { asked: Promise.resolve(""), token: undefined as string | undefined, until: Infinity };
    asking.asked = clientCredentialsGrant(configuration).then(
      (granted) => {
        const livesMs = (granted.expiresIn() ?? 0) * 1_000;
        asking.token = granted.access_token;
        asking.until = clock().getTime() + Math.max(livesMs - sparedMs, shortestLifeMs);
        return granted.access_token;
      },
      (error: unknown) => {
        if (held === asking) held = undefined;
        throw new MarketplaceAwayError("the identity provider gives no token for the marketplace", { cause: error });
      },
    );
    held = asking;
    return asking.asked;
  };

  return {
    get: () => (held !== undefined && clock().getTime() < held.until ? held.asked : ask()),
    forget(token) {
      if (held?.token === token) held = undefined;
    },
  };
}
