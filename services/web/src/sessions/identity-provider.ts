import { Problem } from "@ehr-marketplace/service-kit/http";
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  ClientSecretBasic,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
  tokenRevocation,
} from "openid-client";
import { webProblems } from "../web-problems.ts";

export interface IdentityProviderOptions {
  issuer: string;
  clientId: string;
  clientSecret: string;
  scope: string;
  redirectUri: string;
  /** Where the provider sends the browser after it has signed the user out, too. */
  homeUrl: string;
  /** For development: the identity provider of the local stack uses plain http. */
  plainHttp: boolean;
}

/** What has to be known when the browser comes back. */
export interface SignInTransaction {
  state: string;
  nonce: string;
  verifier: string;
}

export interface IssuedTokens {
  accessToken: string;
  refreshToken: string | undefined;
  expiresInSeconds: number;
}

export interface SignedIn extends IssuedTokens {
  name: string | undefined;
  /** The provider's own session (`sid`), which its sign-out names. */
  providerSession: string | undefined;
}

/** The provider refuses: the user has cancelled, the code is used up, the refresh token is revoked. */
export class SignInRefusedError extends Error {
  override readonly name = "SignInRefusedError";
}

export interface IdentityProvider {
  beginSignIn(): Promise<{ url: string; transaction: SignInTransaction }>;
  completeSignIn(callbackUrl: URL, transaction: SignInTransaction): Promise<SignedIn>;
  refresh(refreshToken: string): Promise<IssuedTokens>;
  /** Undefined: the provider has no page for it. */
  findSignOutUrl(): Promise<string | undefined>;
  revoke(refreshToken: string): Promise<void>;
}

const timeoutSeconds = 5;
const retryAfterSeconds = "5";
/** If the provider doesn't say. RFC 6749 recommends that it does. */
const defaultLifetimeSeconds = 300;

export function createIdentityProvider(options: IdentityProviderOptions): IdentityProvider {
  const { issuer, clientId, clientSecret, scope, redirectUri, homeUrl } = options;
  let known: Configuration | undefined;
  let discovering: Promise<Configuration> | undefined;

  /** Concurrent calls share a request. */
  const discover = (): Promise<Configuration> => {
    discovering ??= discovery(new URL(issuer), clientId, clientSecret, ClientSecretBasic(clientSecret), {
      timeout: timeoutSeconds,
      // oxlint-disable-next-line typescript/no-deprecated -- deprecated only to stand out; never called in production
      execute: [enableNonRepudiationChecks, ...(options.plainHttp ? [allowInsecureRequests] : [])],
    })
      .then((configuration) => (known = configuration))
      .finally(() => (discovering = undefined));
    return discovering;
  };

  /** Every failure that isn't a refusal means that the provider can't be reached, or isn't what it should be. */
  const call = async <T>(
    work: (configuration: Configuration) => Promise<T>,
    find = (): Promise<Configuration> | Configuration => known ?? discover(),
  ): Promise<T> => {
    try {
      return await work(await find());
    } catch (error) {
      if (error instanceof AuthorizationResponseError) throw new SignInRefusedError(error.error, { cause: error });
      if (error instanceof ResponseBodyError && error.status < 500 && error.error !== "invalid_client")
        throw new SignInRefusedError(error.error, { cause: error });
      throw providerUnavailable(error);
    }
  };

  return {
    beginSignIn: () =>
      call(async (configuration) => {
        const transaction = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
        const url = buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri,
          scope,
          state: transaction.state,
          nonce: transaction.nonce,
          code_challenge: await calculatePKCECodeChallenge(transaction.verifier),
          code_challenge_method: "S256",
        });
        return { url: url.href, transaction };
        // Discovers each time: a browser that is sent to a provider that is down would show its own error page, which explains nothing.
      }, discover),
    completeSignIn: (callbackUrl, { state, nonce, verifier }) =>
      call(async (configuration) => {
        const response = await authorizationCodeGrant(configuration, callbackUrl, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = response.claims();
        return { ...issuedOf(response), name: textOf(claims?.["name"]), providerSession: textOf(claims?.["sid"]) };
      }),
    refresh: (refreshToken) =>
      call(async (configuration) => {
        const issued = issuedOf(await refreshTokenGrant(configuration, refreshToken));
        // Without rotation the provider sends none, and the old one stays valid.
        return { ...issued, refreshToken: issued.refreshToken ?? refreshToken };
      }),
    findSignOutUrl: () =>
      call(async (configuration) => {
        if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
        // Without `id_token_hint`: no token is ever in a URL. The provider may ask the user for confirmation.
        return buildEndSessionUrl(configuration, { post_logout_redirect_uri: homeUrl }).href;
        // As above: the browser is sent only to a provider that responds.
      }, discover),
    revoke: (refreshToken) =>
      call(async (configuration) => {
        if (configuration.serverMetadata().revocation_endpoint !== undefined)
          await tokenRevocation(configuration, refreshToken, { token_type_hint: "refresh_token" });
      }),
  };
}

const issuedOf = (response: TokenEndpointResponse & TokenEndpointResponseHelpers): IssuedTokens => ({
  accessToken: response.access_token,
  refreshToken: response.refresh_token,
  expiresInSeconds: response.expiresIn() ?? defaultLifetimeSeconds,
});

const textOf = (claim: unknown): string | undefined => (typeof claim === "string" && claim !== "" ? claim : undefined);

export function providerUnavailable(cause: unknown): Problem {
  const detail = "The identity provider can't be reached, or its response can't be used.";
  return new Problem(webProblems.signInUnavailable, detail, { headers: { "retry-after": retryAfterSeconds }, cause });
}
