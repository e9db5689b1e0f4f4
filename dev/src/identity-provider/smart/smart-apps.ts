import type { ClientMetadata } from "oidc-provider";

/** An app as registered with the authorization server: a public client that runs in the browser. */
export interface SmartApp {
  clientId: string;
  name: string;
  /** The slug of the app in the marketplace. */
  appSlug: string;
  redirectUri: string;
  /** The scopes that it may request, as its vendor published them. */
  fhirScopes: string;
}

/** No refresh tokens are issued: after an hour the app must be launched again. */
const notGranted = new Set(["online_access", "offline_access"]);

export function grantableScopes(app: SmartApp): string[] {
  return app.fhirScopes.split(" ").filter((scope) => !notGranted.has(scope));
}

export function clientOf(app: SmartApp): ClientMetadata {
  return {
    client_id: app.clientId,
    client_name: app.name,
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code"],
    response_types: ["code"],
    redirect_uris: [app.redirectUri],
  };
}
