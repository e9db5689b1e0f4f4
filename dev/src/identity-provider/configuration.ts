import { randomBytes } from "node:crypto";
import type { JWK } from "jose";
import { type Configuration, errors } from "oidc-provider";
import { clients } from "./clients.ts";
import { errorPage } from "./login-page.ts";
import { createMemoryStore } from "./memory-store.ts";
import { claimsOf, isPersona, nameOf } from "./personas.ts";
import { clientOf, grantableScopes } from "./smart/smart-apps.ts";
import type { SmartLaunches } from "./smart/smart-launches.ts";

const hour = 3600;
const day = 24 * hour;

/** The provider issues JWTs only for a resource with one audience; the audiences below are added to the token afterwards. */
const resource = "urn:ehr-marketplace:apis";
const audiences = ["marketplace", "ehr"];
const loopbackHosts = new Set<string | undefined>(["127.0.0.1", "localhost"]);

const createFeatures = (smart: SmartLaunches): Configuration["features"] => ({
  clientCredentials: { enabled: true },
  resourceIndicators: {
    enabled: true,
    defaultResource: (context, client) => (smart.appOf(client) === undefined ? resource : smart.audienceOf(context)),
    useGrantedResource: () => true,
    getResourceServerInfo(_context, indicator, client) {
      const jwt = { accessTokenFormat: "jwt", jwt: { sign: { alg: "RS256" } } } as const;
      const app = smart.appOf(client);
      if (app !== undefined) {
        // Tokens of a vendor's app are for the FHIR server only, whichever user has signed in.
        smart.organisationOf(indicator);
        return { scope: grantableScopes(app).join(" "), audience: indicator, ...jwt };
      }
      if (indicator !== resource) throw new errors.InvalidTarget("omit the resource: tokens are for all APIs");
      return { scope: "", ...jwt };
    },
  },
  devInteractions: { enabled: false },
  dPoP: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  rpInitiatedLogout: { enabled: false },
  // Disabled, because it refuses tokens with an audience, and all tokens here have one.
  userinfo: { enabled: false },
});

export function createConfiguration(keys: JWK[], smart: SmartLaunches): Configuration {
  return {
    adapter: createMemoryStore(),
    clients: [...clients, ...smart.apps.map(clientOf)],
    jwks: { keys },
    features: createFeatures(smart),
    responseTypes: ["code"],
    scopes: ["openid", "offline_access"],
    // The name would be in the FHIR resource of fhirUser, which doesn't exist here, so it is a claim.
    claims: { openid: ["sub"], fhirUser: ["fhirUser", "name"] },
    extraParams: {
      aud: null,
      launch: (context, launch, client) => smart.assertLaunched(context, launch, client),
    },
    clientAuthMethods: ["client_secret_basic", "none"],
    pkce: { required: () => true },
    clientBasedCORS(_context, origin, client) {
      const app = smart.appOf(client);
      if (app !== undefined) return origin === new URL(app.redirectUri).origin;
      return client.clientAuthMethod === "none" && loopbackHosts.has(URL.parse(origin)?.hostname);
    },
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
    findAccount(_context, name, token) {
      if (!isPersona(name)) return undefined;
      const fhirServer = token?.kind === "AuthorizationCode" ? String(token.resource) : "";
      const fhirUser = `${fhirServer}/Practitioner/${name}`;
      return { accountId: name, claims: async () => ({ sub: name, name: nameOf(name), fhirUser }) };
    },
    extraTokenClaims({ oidc }, token) {
      if (smart.appOf(oidc.client) !== undefined) return undefined;
      const name = token.kind === "AccessToken" ? token.accountId : (token.clientId ?? "");
      return isPersona(name) ? { ...claimsOf(name) } : undefined;
    },
    formats: {
      customizers: {
        jwt(_context, _token, { payload }) {
          if (payload["aud"] === resource) payload["aud"] = audiences;
        },
      },
    },
    // Choosing a persona on the login page counts as consent.
    async loadExistingGrant(context) {
      const { oidc } = context;
      if (oidc.result?.consent === undefined || oidc.account === undefined) return undefined;
      const grant = new oidc.provider.Grant({
        accountId: oidc.account.accountId,
        clientId: oidc.client?.clientId ?? "",
      });
      grant.addOIDCScope([...oidc.requestParamOIDCScopes].join(" "));
      const app = smart.appOf(oidc.client);
      if (app !== undefined) await smart.redeem(context, app, grant);
      else await grant.save();
      return grant;
    },
    issueRefreshToken: (_context, client) => client.grantTypeAllowed("refresh_token"),
    // Two tabs of a browser may have different personas, although they share a session.
    expiresWithSession: () => false,
    renderError(context, { error, error_description: description }) {
      context.set(errorPage.headers);
      context.body = errorPage.body(error, description ?? "");
    },
  };
}
