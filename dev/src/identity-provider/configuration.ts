import { randomBytes } from "node:crypto";
import type { Resolve } from "@ehr-marketplace/outbound-http";
import type { JWK } from "jose";
import { type Configuration, errors } from "oidc-provider";
import { clientFetchLimits, createClientFetch } from "./client-fetch.ts";
import { createClients, isApp } from "./clients.ts";
import { errorPage, loggedOutPage, logoutPage } from "./login-page.ts";
import { createMemoryStore } from "./memory-store.ts";
import { claimsOf, isPersona, nameOf } from "./personas.ts";
import { extraClientMetadata, registrationFeatures } from "./registration.ts";
import type { SmartApps } from "./smart/smart-apps.ts";
import type { SmartLaunches } from "./smart/smart-launches.ts";

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
export const grantLifetimeMs = day * 1_000;

/** The provider issues JWTs only for a resource with one audience; the audiences below are added to the token afterwards. */
const resource = "urn:ehr-marketplace:apis";
const audiences = ["marketplace", "ehr"];
const loopbackHosts = new Set<string | undefined>(["127.0.0.1", "localhost"]);

export interface ProviderParts {
  keys: JWK[];
  apps: SmartApps;
  launches: SmartLaunches;
  resolve: Resolve;
  /** Where registered clients are kept, so that they outlive the process. */
  clientsFile: string | undefined;
  /** The web service, which is told who signs out. */
  webUrl: string | undefined;
  /** Client identifiers that begin so are the URLs of metadata documents. */
  metadataDocuments: string | undefined;
}

const createFeatures = ({ apps, metadataDocuments }: ProviderParts): Configuration["features"] => ({
  clientCredentials: { enabled: true },
  resourceIndicators: {
    enabled: true,
    defaultResource: (context, client) => (isApp(client) ? apps.audienceOf(context) : resource),
    useGrantedResource: () => true,
    getResourceServerInfo(context, indicator, client) {
      // Tokens of a vendor's app are for the FHIR server only, whichever user has signed in.
      if (isApp(client)) return apps.describeServer(context, indicator, client);
      if (indicator !== resource) throw new errors.InvalidTarget("omit the resource: tokens are for all APIs");
      return { scope: "", accessTokenFormat: "jwt", jwt: { sign: { alg: "RS256" } } };
    },
  },
  ...registrationFeatures,
  clientIdMetadataDocument: {
    enabled: metadataDocuments !== undefined,
    ack: "draft-02",
    allowFetch: (_context, clientId) => metadataDocuments !== undefined && clientId.startsWith(metadataDocuments),
    // An app that is suspended for security has no document any more.
    cacheDuration: { min: 0, max: minute },
  },
  devInteractions: { enabled: false },
  dPoP: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  rpInitiatedLogout: {
    enabled: true,
    logoutSource(context, form) {
      context.set(logoutPage.headers);
      context.body = logoutPage.body(form);
    },
    postLogoutSuccessSource(context) {
      context.set(loggedOutPage.headers);
      context.body = loggedOutPage.body();
    },
  },
  backchannelLogout: { enabled: true },
  revocation: { enabled: true },
  // Disabled, because it refuses tokens with an audience, and all tokens here have one.
  userinfo: { enabled: false },
});

export function createConfiguration(parts: ProviderParts): Configuration {
  const { apps, launches } = parts;
  return {
    adapter: createMemoryStore(parts.clientsFile),
    clients: createClients(parts.webUrl),
    jwks: { keys: parts.keys },
    features: createFeatures(parts),
    extraClientMetadata,
    fetch: createClientFetch(parts.resolve),
    fetchResponseBodyLimits: clientFetchLimits,
    responseTypes: ["code"],
    scopes: ["openid", "offline_access", "profile"],
    // The name would be in the FHIR resource of fhirUser, which doesn't exist here, so it is a claim.
    claims: { openid: ["sub"], profile: ["name"], fhirUser: ["fhirUser", "name"] },
    extraParams: {
      aud: null,
      launch: (context, launch, client) => launches.assertLaunched(context, launch, client),
    },
    clientAuthMethods: ["client_secret_basic", "none", "private_key_jwt"],
    // Those of SMART App Launch 2.2.
    enabledJWA: { clientAuthSigningAlgValues: ["ES384", "RS384"] },
    assertJwtClientAuthClaimsAndHeader: (_context, claims) => apps.assertAssertionLifetime(claims),
    pkce: { required: () => true },
    clientBasedCORS(_context, origin, client) {
      if (isApp(client)) return (client.redirectUris ?? []).some((uri) => URL.parse(uri)?.origin === origin);
      return client.clientAuthMethod === "none" && loopbackHosts.has(URL.parse(origin)?.hostname);
    },
    cookies: { keys: [randomBytes(32).toString("base64url")] },
    ttl: {
      AccessToken: hour,
      // SMART App Launch 2.2, "Backend services": five minutes at most.
      ClientCredentials: (_context, _token, client) => (isApp(client) ? 5 * minute : hour),
      IdToken: hour,
      AuthorizationCode: 60,
      Interaction: hour,
      Session: day,
      Grant: day,
      RefreshToken: day,
    },
    findAccount(_context, name, token) {
      if (!isPersona(name)) return undefined;
      const isSource = token?.kind === "AuthorizationCode" || token?.kind === "RefreshToken";
      const fhirUser = `${isSource ? String(token.resource) : ""}/Practitioner/${name}`;
      return { accountId: name, claims: async () => ({ sub: name, name: nameOf(name), fhirUser }) };
    },
    extraTokenClaims({ oidc }, token) {
      if (isApp(oidc.client)) return undefined;
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
      if (isApp(oidc.client)) {
        await launches.redeem(context, oidc.client, grant);
      } else {
        grant.addOIDCScope([...oidc.requestParamOIDCScopes].join(" "));
        await grant.save();
      }
      return grant;
    },
    issueRefreshToken: (_context, client, source) =>
      isApp(client) ? apps.isRefreshable(client, source.scopes) : client.grantTypeAllowed("refresh_token"),
    async rotateRefreshToken(context) {
      const { client, refreshToken } = context.oidc;
      // Before the token is used up: a refresh that is refused during a pause must work again after it.
      if (isApp(client)) await apps.requireActive(context, client, refreshToken?.resource);
      return client?.clientAuthMethod === "none";
    },
    // Two tabs of a browser may have different personas, although they share a session.
    expiresWithSession: () => false,
    renderError(context, { error, error_description: description }) {
      context.set(errorPage.headers);
      context.body = errorPage.body(error, description ?? "");
    },
  };
}
