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

/** The provider issues a JWT only for a resource, and knows one audience for each; ours are written into the token. */
const resource = "urn:ehr-marketplace:apis";
const audiences = ["marketplace", "ehr"];

const featuresWith = (smart: SmartLaunches): Configuration["features"] => ({
  clientCredentials: { enabled: true },
  resourceIndicators: {
    enabled: true,
    defaultResource: (context, client) => (smart.appOf(client) === undefined ? resource : smart.audienceOf(context)),
    useGrantedResource: () => true,
    getResourceServerInfo(_context, indicator, client) {
      const jwt = { accessTokenFormat: "jwt", jwt: { sign: { alg: "RS256" } } } as const;
      const app = smart.appOf(client);
      if (app !== undefined) {
        // A vendor's app is let in to the FHIR server alone, whoever has signed in to it.
        smart.organisationOf(indicator);
        return { scope: grantableScopes(app).join(" "), audience: indicator, ...jwt };
      }
      if (indicator !== resource)
        throw new errors.InvalidTarget("leave the resource away: tokens are for all our APIs");
      return { scope: "", ...jwt };
    },
  },
  devInteractions: { enabled: false },
  dPoP: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  rpInitiatedLogout: { enabled: false },
  // It would be of no use: it refuses tokens that are for an audience, and all of ours are.
  userinfo: { enabled: false },
});

export function configurationWith(keys: JWK[], smart: SmartLaunches): Configuration {
  return {
    adapter: createMemoryStore(),
    clients: [...clients, ...smart.apps.map(clientOf)],
    jwks: { keys },
    features: featuresWith(smart),
    responseTypes: ["code"],
    scopes: ["openid", "offline_access"],
    // The name is in the record that fhirUser points to; as there are no records here, it comes along.
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
      return client.clientAuthMethod === "none" && URL.parse(origin)?.hostname === "127.0.0.1";
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
    // Who chose a persona on the login page has agreed to what the client asks for.
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
    // Two tabs may be two personas, though the browser has one session.
    expiresWithSession: () => false,
    renderError(context, { error, error_description: description }) {
      context.set(errorPage.headers);
      context.body = errorPage.body(error, description ?? "");
    },
  };
}
