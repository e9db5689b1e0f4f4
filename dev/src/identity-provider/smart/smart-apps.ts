import type { ClientMetadata } from "oidc-provider";

/** An app as the authorization server knows it: a public client that runs in the browser. */
export interface SmartApp {
  clientId: string;
  name: string;
  /** Which of the marketplace's apps the client is. */
  appSlug: string;
  redirectUri: string;
  /** What it may ask for, as its vendor published it. */
  fhirScopes: string;
}

/** Nobody gets a refresh token: an app whose hour is over is opened from the chart again. */
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
