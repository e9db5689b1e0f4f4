import { intersectScopes, splitScopes } from "@ehr-marketplace/listing-rules/scopes";
import { type Client, errors, type KoaContextWithOIDC, type Provider, type ResourceServer } from "oidc-provider";
import type { ActiveApp, AppClients } from "./app-clients.ts";
import { orgAliasOf } from "./fhir-servers.ts";

const refreshScopes = new Set(["online_access", "offline_access"]);
const isSystemScope = (scope: string): boolean => scope.startsWith("system/");

/** SMART App Launch 2.2, "Asymmetric client authentication": an assertion is valid for five minutes at most. */
const maxAssertionSeconds = 5 * 60;

/** Decides which tokens the apps of vendors get: for one organisation's FHIR server, with scopes that it has agreed to. */
export class SmartApps {
  readonly #issuer: string;
  readonly #clients: AppClients;

  constructor(issuer: string, clients: AppClients) {
    this.#issuer = issuer;
    this.#clients = clients;
  }

  /** Returns the FHIR server that the app requests, which becomes the audience of its token. */
  audienceOf({ oidc }: KoaContextWithOIDC): string {
    const audience = oidc.params?.["aud"] ?? oidc.body?.["aud"];
    if (typeof audience !== "string") throw new errors.InvalidRequest("aud is missing: the FHIR server's base URL");
    return audience;
  }

  organisationOf(fhirUrl: unknown): string {
    const alias = typeof fhirUrl === "string" ? orgAliasOf(this.#issuer, fhirUrl) : undefined;
    if (alias === undefined) throw new errors.InvalidTarget("aud is not a known FHIR server");
    return alias;
  }

  /**
   * Throws unless the organisation has the app now, with this client. A sign-in asks the EHR each time, so that a pause and an added scope
   * count at the next launch; tokens are requested far more often.
   */
  async requireActive({ oidc }: KoaContextWithOIDC, client: Client, fhirUrl: unknown): Promise<ActiveApp> {
    const isToken = oidc.route === "token";
    const app = await this.#clients.find(client.clientId, this.organisationOf(fhirUrl), { isFresh: !isToken });
    if (app !== undefined) return app;
    const reason = "the organisation doesn't have this app, or it is paused";
    throw isToken ? new errors.CustomOIDCProviderError("invalid_grant", reason) : new errors.AccessDenied(reason);
  }

  /** Called before every token: describes the FHIR server with those of the requested scopes that may be granted now. */
  async describeServer(context: KoaContextWithOIDC, fhirUrl: string, client: Client): Promise<ResourceServer> {
    const { fhirScopes } = await this.requireActive(context, client, fhirUrl);
    const scope = limitScopes(context, client, fhirScopes);
    return { scope, audience: fhirUrl, accessTokenFormat: "jwt", jwt: { sign: { alg: "RS256" } } };
  }

  isRefreshable(client: Client, scopes: ReadonlySet<string>): boolean {
    return client.grantTypeAllowed("refresh_token") && !refreshScopes.isDisjointFrom(scopes);
  }

  assertAssertionLifetime(claims: Record<string, unknown>): void {
    const inSeconds = Number(claims["exp"]) - Date.now() / 1_000;
    if (!(inSeconds <= maxAssertionSeconds)) throw new errors.InvalidClientAuth("exp is more than five minutes ahead");
  }

  /**
   * The library drops `offline_access` from requests without `prompt=consent`, which SMART apps don't send. The login page counts as
   * consent.
   */
  addOfflineAccess(provider: Provider): void {
    provider.use((context, next) => {
      const { scope, prompt } = context.query;
      const isOffline = typeof scope === "string" && splitScopes(scope).includes("offline_access");
      if (context.path === "/auth" && isOffline && prompt === undefined) {
        context.query = { ...context.query, prompt: "consent" };
      }
      return next();
    });
  }
}

/**
 * Scopes are compared by meaning here, and as text by the library. So a request is narrowed as it arrives to what may be granted:
 * `patient/*.rs` becomes `patient/Observation.rs` if the organisation has agreed to that only.
 */
function limitScopes({ oidc }: KoaContextWithOIDC, client: Client, agreed: string): string {
  const { params = {}, requestParamScopes } = oidc;
  const source = oidc.entities.RefreshToken ?? oidc.entities.AuthorizationCode;
  const isBackend = params["grant_type"] === "client_credentials";
  const canRefresh = client.grantTypeAllowed("refresh_token");
  const granted = splitScopes(intersectScopes(source?.scope ?? [...requestParamScopes].join(" "), agreed))
    .filter((scope) => isSystemScope(scope) === isBackend && (canRefresh || !refreshScopes.has(scope)))
    .join(" ");
  if (source === undefined) {
    if (granted === "") {
      throw new errors.InvalidScope("the organisation has agreed to none of the requested scopes", "");
    }
    params["scope"] = granted;
  }
  return granted;
}
