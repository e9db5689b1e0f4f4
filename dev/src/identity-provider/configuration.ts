import { randomBytes } from "node:crypto";
import type { JWK } from "jose";
import { type Configuration, errors } from "oidc-provider";
import { clients } from "./clients.ts";
import { errorPage } from "./login-page.ts";
import { createMemoryStore } from "./memory-store.ts";
import { claimsOf, isPersona } from "./personas.ts";

const hour = 3600;
const day = 24 * hour;

/** The provider issues a JWT only for a resource, and knows one audience for each; ours are written into the token. */
const resource = "urn:ehr-marketplace:apis";
const audiences = ["marketplace", "ehr"];

const features: Configuration["features"] = {
  clientCredentials: { enabled: true },
  resourceIndicators: {
    enabled: true,
    defaultResource: () => resource,
    useGrantedResource: () => true,
    getResourceServerInfo(_context, indicator) {
      if (indicator !== resource)
        throw new errors.InvalidTarget("leave the resource away: tokens are for all our APIs");
      return { scope: "", accessTokenFormat: "jwt", jwt: { sign: { alg: "RS256" } } };
    },
  },
  devInteractions: { enabled: false },
  dPoP: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  rpInitiatedLogout: { enabled: false },
  // It would be of no use: it refuses tokens that are for an audience, and all of ours are.
  userinfo: { enabled: false },
};

export function configurationWith(keys: JWK[]): Configuration {
  return {
    adapter: createMemoryStore(),
    clients,
    jwks: { keys },
    features,
    responseTypes: ["code"],
    scopes: ["openid", "offline_access"],
    clientAuthMethods: ["client_secret_basic", "none"],
    pkce: { required: () => true },
    clientBasedCORS: (_context, origin, client) =>
      client.clientAuthMethod === "none" && URL.parse(origin)?.hostname === "127.0.0.1",
    cookies: { keys: [randomBytes(32).toString("base64url")] },
    ttl: {
      AccessToken: hour,
      ClientCredentials: hour,
      IdToken: hour,
      AuthorizationCode: 60,
      Interaction: hour,
      Session: day,
      Grant: day,
      RefreshToken: day,
    },
    findAccount: (_context, name) =>
      isPersona(name) ? { accountId: name, claims: async () => ({ sub: name }) } : undefined,
    extraTokenClaims(_context, token) {
      const name = token.kind === "AccessToken" ? token.accountId : (token.clientId ?? "");
      return isPersona(name) ? { ...claimsOf(name) } : undefined;
    },
    formats: {
      customizers: {
        jwt(_context, _token, { payload }) {
          payload["aud"] = audiences;
        },
      },
    },
    // Who chose a persona on the login page has agreed to what the client asks for.
    async loadExistingGrant({ oidc }) {
      if (oidc.result?.consent === undefined || oidc.account === undefined) return undefined;
      const grant = new oidc.provider.Grant({
        accountId: oidc.account.accountId,
        clientId: oidc.client?.clientId ?? "",
      });
      grant.addOIDCScope([...oidc.requestParamOIDCScopes].join(" "));
      await grant.save();
      return grant;
    },
    issueRefreshToken: (_context, client) => client.grantTypeAllowed("refresh_token"),
    // Two tabs may be two personas, though the browser has one session.
    expiresWithSession: () => false,
    renderError(context, { error, error_description: description }) {
      context.set(errorPage.headers);
      context.body = errorPage.body(error, description ?? "");
    },
  };
}
