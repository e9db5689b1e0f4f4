import type { Client, ClientMetadata } from "oidc-provider";
import { webClient } from "../service-environments.ts";
import { personaNames } from "./personas.ts";

/** The secret of every persona. It is public; the provider listens on loopback only. */
export const developmentSecret = "development-only";

/** The initial access token (RFC 7591) with which the local stack's EHR registers apps. It is as public as the secret. */
export const registrationToken = "development-only-registration";

export const consoleClientId = "marketplace-console";

/** RFC 8252, section 7.3: a native client may use any port of the loopback address in its redirect URI. */
export const consoleRedirectUri = "http://127.0.0.1/callback";
/** Where many development servers open their pages. */
const localhostRedirectUri = "http://localhost/callback";

const personaClients = personaNames.map(
  (persona): ClientMetadata => ({
    client_id: persona,
    client_secret: developmentSecret,
    token_endpoint_auth_method: "client_secret_basic",
    grant_types: ["client_credentials"],
    response_types: [],
    redirect_uris: [],
  }),
);

const consoleClient: ClientMetadata = {
  client_id: consoleClientId,
  client_name: "Marketplace console",
  application_type: "native",
  token_endpoint_auth_method: "none",
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  redirect_uris: [consoleRedirectUri, localhostRedirectUri],
};

/** The web service, which keeps users' tokens. `native`, so that it may have any port of the loopback address. */
const createWebClient = (webUrl: string | undefined): ClientMetadata => ({
  client_id: webClient.id,
  client_name: "EHR Marketplace",
  client_secret: webClient.secret,
  application_type: "native",
  token_endpoint_auth_method: "client_secret_basic",
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  // With TLS, it has a host name of its own.
  redirect_uris: [consoleRedirectUri, ...(webUrl?.startsWith("https:") ? [`${webUrl}/callback`] : [])],
  post_logout_redirect_uris: ["http://127.0.0.1/"],
  ...(webUrl !== undefined && {
    backchannel_logout_uri: `${webUrl}/backchannel-logout`,
    backchannel_logout_session_required: true,
  }),
});

/** The stack's own clients. Apps of vendors are registered while it runs. With `webUrl`, the web is told who signs out. */
export const createClients = (webUrl: string | undefined): ClientMetadata[] => [
  ...personaClients,
  consoleClient,
  createWebClient(webUrl),
];
const ownClientIds = new Set(createClients(undefined).map(({ client_id: id }) => id));

/** A vendor's app. Registration admits no native ones, whose redirect URIs have any port. */
export type AppClient = Client & { readonly applicationType: "web" };

/** Whether the client is a vendor's app, which gets tokens for FHIR servers only. */
export const isApp = (client: Client | undefined): client is AppClient =>
  client !== undefined && !ownClientIds.has(client.clientId);
