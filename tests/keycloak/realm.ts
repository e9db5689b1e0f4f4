import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { getSharedPart } from "@ehr-marketplace/test-kit";

/** A realm that `deploy/keycloak/realm.sh` has configured, with a user. */
export interface Realm {
  issuer: string;
  registrationUrl: string;
  /** With these variables, `deploy/keycloak/realm.sh` finds it. */
  environment: Record<string, string>;
  user: { username: string; password: string; fhirUser: string };
  /** Runs a command of `deploy/keycloak/realm.sh`. `deviations` replace variables of the environment. */
  run(args: string[], input?: string, deviations?: Record<string, string>): Promise<string>;
  createInitialToken(registrations: number): Promise<string>;
  readClient(clientId: string): Promise<KeycloakClient | null>;
  /** As somebody does in the administration console. */
  deleteClient(clientId: string): Promise<void>;
}

/** What the tests read of the Admin API's ClientRepresentation. */
export interface KeycloakClient {
  id: string;
  name: string;
  redirectUris: string[];
  publicClient: boolean;
  clientAuthenticatorType: string;
  standardFlowEnabled: boolean;
  implicitFlowEnabled: boolean;
  directAccessGrantsEnabled: boolean;
  serviceAccountsEnabled: boolean;
  fullScopeAllowed: boolean;
  optionalClientScopes: string[];
  attributes: Record<string, string>;
}

interface SharedKeycloak {
  url: string;
  clientId: string;
  clientSecret: string;
}

const root = new URL("../../", import.meta.url).pathname;
const execute = promisify(execFile);
export const fhirAudience = "https://fhir.example.com";
export const readScopes = (): Promise<string> => readFile(`${root}deploy/keycloak/scopes.txt`, "utf8");

/** Names a new realm of the shared Keycloak, which doesn't exist yet. */
export async function nameRealm(): Promise<Pick<Realm, "issuer" | "registrationUrl" | "environment" | "run">> {
  const { url, clientId, clientSecret } = await getSharedPart<SharedKeycloak>("keycloak");
  const name = `practices-${randomUUID().slice(0, 8)}`;
  const issuer = `${url}/realms/${name}`;
  const environment = {
    KEYCLOAK_URL: url,
    KEYCLOAK_CLIENT_ID: clientId,
    KEYCLOAK_CLIENT_SECRET: clientSecret,
    REALM: name,
    FHIR_AUDIENCE: fhirAudience,
    REGISTRATION_HOSTS: "127.0.0.1",
    ALLOW_LOOPBACK: "true",
  };
  return {
    issuer,
    registrationUrl: `${issuer}/clients-registrations/openid-connect`,
    environment,
    async run(args, input = "", deviations = {}) {
      const running = execute("deploy/keycloak/realm.sh", args, {
        cwd: root,
        env: { ...process.env, ...environment, ...deviations },
        timeout: 600_000,
      });
      running.child.stdin?.end(input);
      return (await running).stdout.trim();
    },
  };
}

/** Creates and configures a realm as an operator does. */
export async function prepareRealm(): Promise<Realm> {
  const named = await nameRealm();
  await named.run(["configure"], await readScopes());
  return attachToRealm(named);
}

/** For a realm that is configured: adds a user, and warms Keycloak up. */
export async function attachToRealm(named: Awaited<ReturnType<typeof nameRealm>>): Promise<Realm> {
  const fhirUser = `${fhirAudience}/Practitioner/tom`;
  const user = { username: "tom", password: "tom's password", fhirUser };
  await sendAsAdmin(named.environment, "POST", "/users", {
    username: user.username,
    enabled: true,
    // Otherwise Keycloak asks for them when the user signs in.
    email: "tom@riverside.example",
    emailVerified: true,
    firstName: "Tom",
    lastName: "Whitfield",
    attributes: { fhirUser: [fhirUser] },
    credentials: [{ type: "password", value: user.password, temporary: false }],
  });
  const realm: Realm = {
    ...named,
    user,
    createInitialToken: (registrations) => named.run(["initial-token", "1", String(registrations)]),
    readClient: async (clientId) => JSON.parse(await named.run(["client", clientId])) as KeycloakClient | null,
    async deleteClient(clientId) {
      const client = (await realm.readClient(clientId)) ?? assert.fail(`Keycloak has no client ${clientId}`);
      await sendAsAdmin(named.environment, "DELETE", `/clients/${client.id}`);
    },
  };
  await warmUp(realm);
  return realm;
}

/** Sends a request to the Admin API of the realm, and returns the body of the response, if it has one. */
export async function sendAsAdmin<T = void>(
  { KEYCLOAK_URL, KEYCLOAK_CLIENT_ID = "", KEYCLOAK_CLIENT_SECRET = "", REALM }: Record<string, string>,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const granted = await fetch(`${KEYCLOAK_URL}/realms/master/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "client_credentials",
      client_id: KEYCLOAK_CLIENT_ID,
      client_secret: KEYCLOAK_CLIENT_SECRET,
    }),
  });
  const { access_token: token } = (await granted.json()) as { access_token: string };
  const response = await fetch(`${KEYCLOAK_URL}/admin/realms/${REALM}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

/**
 * Registers, reads, updates and removes a client by itself. Keycloak's first requests take seconds on a busy machine, and the EHR service
 * waits for 10: a later one would be uncertain.
 */
async function warmUp(realm: Realm): Promise<void> {
  const send = (method: string, url: string, token: string, body?: object): Promise<Response> =>
    fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const metadata = {
    client_name: "Warm-up",
    redirect_uris: ["https://app.example/callback"],
    grant_types: ["authorization_code"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    scope: "openid patient/Patient.rs",
  };
  const created = await send("POST", realm.registrationUrl, await realm.createInitialToken(1), metadata);
  assert.equal(created.status, 201);
  const { registration_client_uri: uri = "", ...client } = (await created.json()) as Record<string, string>;
  assert.ok(uri.startsWith(`${realm.registrationUrl}/`), uri);
  const read = await send("GET", uri, client["registration_access_token"] ?? "");
  assert.equal(read.status, 200);
  const { registration_access_token: token = "" } = (await read.json()) as Record<string, string>;
  const updated = await send("PUT", uri, token, { ...metadata, client_id: client["client_id"] });
  assert.equal(updated.status, 200);
  const { registration_access_token: rotated = "" } = (await updated.json()) as Record<string, string>;
  assert.notEqual(rotated, token, "Keycloak rotates the registration token with each update");
  assert.equal((await send("DELETE", uri, rotated)).status, 204);
}
