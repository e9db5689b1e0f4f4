import { registrationToken } from "./clients.ts";

export interface RegisteredClient {
  client_id: string;
  registration_client_uri: string;
  registration_access_token: string;
  [name: string]: unknown;
}

/** Metadata as the marketplace publishes it for an app that is launched. */
export const launchedApp = {
  client_name: "An app",
  client_uri: "https://vendor.example/app",
  logo_uri: "http://127.0.0.1:8080/media/icon.png",
  policy_uri: "https://vendor.example/privacy",
  tos_uri: "https://vendor.example/terms",
  redirect_uris: ["http://127.0.0.1:49153/"],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
  scope: "launch openid fhirUser online_access patient/Observation.rs",
  software_id: "0199c1a2-5a5e-7b00-8000-000000000001",
  software_version: "1.0.0",
};

export function sendRegistration(issuer: string, metadata: object, token = registrationToken): Promise<Response> {
  return fetch(`${issuer}/reg`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify(metadata),
  });
}

/** Registers a client as the EHR does (RFC 7591). */
export async function register(issuer: string, changes: object = {}): Promise<RegisteredClient> {
  const response = await sendRegistration(issuer, { ...launchedApp, ...changes });
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as RegisteredClient;
}
