import { randomUUID } from "node:crypto";
import type { AppClientGrantDto } from "@ehr-marketplace/contracts";
import { type CleanUp, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { startEhr } from "@ehr-marketplace/tests/support/ehr";
import { freePort } from "../../free-port.ts";
import type { Persona } from "../personas.ts";
import { register } from "../registration.test-support.ts";
import { beginSignIn, choosePersona, newPkce, openBrowser, redeem } from "../sign-in.ts";
import { type IdentityProvider, startIdentityProvider } from "../start-identity-provider.ts";
import { fhirBaseUrl } from "./fhir-servers.ts";

export const redirectUri = "http://127.0.0.1:49153/";
export const app = {
  slug: "northwind-scribe",
  name: "Northwind Scribe",
  fhirScopes: "launch openid fhirUser online_access offline_access patient/Patient.r patient/Observation.rs",
};

export interface TokenResponse {
  access_token: string;
  id_token: string;
  refresh_token: string;
  scope: string;
  [name: string]: unknown;
}

const orgAlias = "riverside-clinic";

/** Installs an app for Riverside Clinic, and makes the client that of the app, as an operator does who registered it. */
async function install(ownerUrl: string, slug: string, clientId: string): Promise<void> {
  await withClient(ownerUrl, async (client) => {
    const [appId, subscriptionId] = [randomUUID(), randomUUID()];
    await client.query(
      `insert into apps
         (slug, id, name, icon_url, category, extension_points, smart_launch_url, fhir_scopes, schema_known, updated_at)
       values ($1, $2, $3, 'https://icons.example/1', 'DOCUMENTATION', '{}', $4, $5, true, now())`,
      [slug, appId, app.name, `${redirectUri}launch`, app.fhirScopes],
    );
    await client.query("insert into subscriptions values ($1, $2, $3, 'active', now(), now())", [
      orgAlias,
      subscriptionId,
      slug,
    ]);
    await client.query(
      `insert into installations (id, org_alias, app_slug, status, subscription_id, installed_at, updated_at)
       values ($1, $2, $3, 'active', $4, now(), now())`,
      [randomUUID(), orgAlias, slug, subscriptionId],
    );
    await client.query(
      `insert into clients (id, app_slug, method, status, client_id, registered_sha256, version, created_at, updated_at)
       values ($1, $2, 'manual', 'ready', $3, $4, $1, now(), now())`,
      [randomUUID(), slug, clientId, "0".repeat(64)],
    );
  });
}

export interface LaunchingEhr {
  identityProvider: IdentityProvider;
  /** The app's client. */
  clientId: string;
  /** Launches the app in the EHR, and returns the `launch` parameter of the launch URL. */
  launch(persona: Persona, context?: { patientId?: string; encounterId?: string }): Promise<string>;
  /** Installs another app, whose client it is; returns the same EHR with that app. */
  installAnother(clientId: string): Promise<LaunchingEhr>;
  /** Pauses or resumes the apps, as events of their subscriptions do. */
  setStatus(status: "active" | "paused"): Promise<void>;
  /** Changes what the practice has agreed to, and what the apps may ask for. */
  setScopes(fhirScopes: string): Promise<void>;
  /** How often the EHR was asked about a client. */
  countChecks(): Promise<number>;
  /** Lets the time pass by which the EHR's responses are cached. */
  advance(ms: number): void;
}

/** Starts the EHR service and the authorization server of its apps, configured for each other. */
export async function startLaunchingEhr(cleanUp: CleanUp): Promise<LaunchingEhr> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "ehr");
  const { url } = await startEhr(cleanUp, serviceUrl, {
    TOKEN_ISSUER: issuer,
    TOKEN_JWKS_URL: `${issuer}/jwks`,
    FHIR_BASE_URL: fhirBaseUrl(issuer, "{orgAlias}"),
  });
  let time = 0;
  const identityProvider = await startIdentityProvider({ port, ehrUrl: url, now: () => time });
  cleanUp(() => identityProvider.stop());
  const authorization = `Bearer ${await identityProvider.accessToken("launch-redeemer")}`;
  const change = (statement: string, value: string): Promise<unknown> =>
    withClient(ownerUrl, (client) => client.query(statement, [value]));

  /** The EHR's process hears of a change a moment after its commit. */
  const grantBecomes = (clientId: string, condition: (grant: AppClientGrantDto) => boolean): Promise<void> =>
    eventually("the EHR says so of the client", 30_000, async () => {
      const query = new URLSearchParams({ clientId, orgAlias });
      const response = await fetch(`${url}/api/internal/app-clients?${query.toString()}`, {
        headers: { authorization },
      });
      return condition(((await response.json()) as { data: AppClientGrantDto }).data);
    });

  async function installApp(slug: string, clientId: string): Promise<LaunchingEhr> {
    await install(ownerUrl, slug, clientId);
    await grantBecomes(clientId, ({ active }) => active);
    return {
      identityProvider,
      clientId,
      launch: (persona, context = {}) => launchApp({ ehrUrl: url, identityProvider, slug }, persona, context),
      installAnother: (otherId) => installApp(`app-${randomUUID()}`, otherId),
      async setStatus(status) {
        await change("update installations set status = $1", status);
        await grantBecomes(clientId, ({ active }) => active === (status === "active"));
      },
      async setScopes(fhirScopes) {
        await change("update apps set fhir_scopes = $1", fhirScopes);
        await change("update subscriptions set fhir_scopes = $1", fhirScopes);
        await grantBecomes(clientId, (grant) => grant.fhirScopes === fhirScopes);
      },
      async countChecks() {
        const metrics = await (await fetch(`${url}/metrics`)).text();
        const counts = metrics.matchAll(/^http_request_duration_seconds_count\{.*app-clients.*\} (\d+)$/gm);
        return counts.reduce((sum, [, count]) => sum + Number(count), 0);
      },
      advance(ms) {
        time += ms;
      },
    };
  }

  const { client_id: clientId } = await register(issuer, { client_name: app.name, scope: app.fhirScopes });
  return installApp(app.slug, clientId);
}

/** Launches an app as the EHR's page does, and returns the `launch` parameter of the launch URL. */
export async function launchApp(
  { ehrUrl, identityProvider, slug }: { ehrUrl: string; identityProvider: IdentityProvider; slug: string },
  persona: Persona,
  context: { patientId?: string; encounterId?: string },
): Promise<string> {
  const response = await fetch(`${ehrUrl}/api/app-installations/${slug}/launch`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${await identityProvider.accessToken(persona)}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(context),
  });
  const { data } = (await response.json()) as { data: { launchUrl: string } };
  const { searchParams } = new URL(data.launchUrl);
  if (searchParams.get("iss") !== fhirBaseUrl(identityProvider.issuer, orgAlias)) throw new Error(data.launchUrl);
  return searchParams.get("launch") ?? "";
}

const pkce = newPkce();

type SignInTarget = Pick<LaunchingEhr, "identityProvider" | "clientId">;

/** The parameters of the app's authorization request. */
export function authorizing({ identityProvider, clientId }: SignInTarget, launch: string): Record<string, string> {
  return {
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: "launch openid fhirUser online_access patient/Patient.r patient/Observation.rs",
    aud: fhirBaseUrl(identityProvider.issuer, orgAlias),
    launch,
    state: "a state",
    code_challenge: pkce.challenge,
    code_challenge_method: "S256",
  };
}

/** Sends the authorization request, and returns where it leads: to the login page, or back with an error. */
export function beginAppSignIn(
  target: SignInTarget,
  launch: string,
  query: Record<string, string> = {},
  browser = openBrowser(),
): Promise<URL> {
  return beginSignIn(browser, target.identityProvider.issuer, { ...authorizing(target, launch), ...query });
}

/** Signs in, and returns the parameters of the redirect URL: the code, or the error. */
export async function signInToApp(
  target: SignInTarget,
  launch: string,
  persona: Persona,
  query: Record<string, string> = {},
): Promise<URLSearchParams> {
  const browser = openBrowser();
  const loginUrl = await beginAppSignIn(target, launch, query, browser);
  return (await choosePersona(browser, loginUrl, persona)).searchParams;
}

export function exchange(
  { identityProvider, clientId }: SignInTarget,
  response: URLSearchParams,
  headers = {},
): Promise<Response> {
  const parameters = {
    client_id: clientId,
    grant_type: "authorization_code",
    code: response.get("code") ?? "",
    redirect_uri: redirectUri,
    code_verifier: pkce.verifier,
  };
  return redeem(identityProvider.issuer, parameters, headers);
}

/** Launches the app, signs the persona in, and returns the tokens. */
export async function openApp(
  ehr: LaunchingEhr,
  query: Record<string, string> = {},
  context: { patientId?: string } = {},
): Promise<TokenResponse> {
  const launch = await ehr.launch("riverside-member", context);
  const response = await exchange(ehr, await signInToApp(ehr, launch, "riverside-member", query));
  const tokens = (await response.json()) as TokenResponse;
  if (!response.ok) throw new Error(JSON.stringify(tokens));
  return tokens;
}

export function refresh(
  { identityProvider, clientId }: SignInTarget,
  refreshToken: string,
  parameters: Record<string, string> = {},
): Promise<Response> {
  return redeem(identityProvider.issuer, {
    client_id: clientId,
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    ...parameters,
  });
}
