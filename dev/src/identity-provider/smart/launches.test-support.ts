import { randomUUID } from "node:crypto";
import { type CleanUp, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { startEhr } from "@ehr-marketplace/tests/support";
import { smartAppOf } from "../../demo-app/smart-app.ts";
import { freePort } from "../../free-port.ts";
import type { Persona } from "../personas.ts";
import { beginSignIn, choosePersona, newPkce, openBrowser, redeem } from "../sign-in.ts";
import { type IdentityProvider, startIdentityProvider } from "../start-identity-provider.ts";
import { fhirBaseUrl } from "./fhir-servers.ts";

export const app = smartAppOf("http://127.0.0.1:49153");

/** Installs the app for Riverside Clinic. */
async function install(ownerUrl: string): Promise<void> {
  await withClient(ownerUrl, async (client) => {
    const [appId, subscriptionId] = [randomUUID(), randomUUID()];
    await client.query(
      `insert into apps
         (slug, id, name, icon_url, category, extension_points, smart_launch_url, fhir_scopes, schema_known, updated_at)
       values ($1, $2, $3, 'https://icons.example/1', 'DOCUMENTATION', '{}', $4, $5, true, now())`,
      [app.appSlug, appId, app.name, `${app.redirectUri}launch`, app.fhirScopes],
    );
    await client.query("insert into subscriptions values ('riverside-clinic', $1, $2, 'active', now(), now())", [
      subscriptionId,
      app.appSlug,
    ]);
    await client.query(
      `insert into installations (id, org_alias, app_slug, status, subscription_id, installed_at, updated_at)
       values ($1, 'riverside-clinic', $2, 'active', $3, now(), now())`,
      [randomUUID(), app.appSlug, subscriptionId],
    );
  });
}

export interface LaunchingEhr {
  identityProvider: IdentityProvider;
  /** Launches the app in the EHR, and returns the `launch` parameter of the launch URL. */
  launch(persona: Persona, context?: { patientId?: string; encounterId?: string }): Promise<string>;
}

/** Starts the EHR service and the authorization server of its apps, configured for each other. */
export async function startLaunchingEhr(cleanUp: CleanUp): Promise<LaunchingEhr> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const database = await cloneDatabase(cleanUp, "ehr");
  await install(database.ownerUrl);
  const ehr = await startEhr(cleanUp, database.serviceUrl, {
    TOKEN_ISSUER: issuer,
    TOKEN_JWKS_URL: `${issuer}/jwks`,
    FHIR_BASE_URL: fhirBaseUrl(issuer, "{orgAlias}"),
  });
  const identityProvider = await startIdentityProvider({ port, smart: { ehrUrl: ehr.url, apps: [app] } });
  cleanUp(() => identityProvider.stop());
  return {
    identityProvider,
    async launch(persona, context = {}) {
      const response = await fetch(`${ehr.url}/api/app-installations/${app.appSlug}/launch`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${await identityProvider.accessToken(persona)}`,
          "content-type": "application/json",
        },
        body: JSON.stringify(context),
      });
      const { data } = (await response.json()) as { data: { launchUrl: string } };
      const { searchParams } = new URL(data.launchUrl);
      if (searchParams.get("iss") !== fhirBaseUrl(issuer, "riverside-clinic")) throw new Error(data.launchUrl);
      return searchParams.get("launch") ?? "";
    },
  };
}

const pkce = newPkce();

/** The parameters of the app's authorization request. */
export function authorizing(issuer: string, launch: string): Record<string, string> {
  return {
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    scope: app.fhirScopes,
    aud: fhirBaseUrl(issuer, "riverside-clinic"),
    launch,
    state: "a state",
    code_challenge: pkce.challenge,
    code_challenge_method: "S256",
  };
}

/** Signs in, and returns the redirect URL with the code or the error. */
export async function signInToApp(
  { issuer }: IdentityProvider,
  launch: string,
  persona: Persona,
  query: Record<string, string> = {},
): Promise<URLSearchParams> {
  const browser = openBrowser();
  const loginUrl = await beginSignIn(browser, issuer, { ...authorizing(issuer, launch), ...query });
  return (await choosePersona(browser, loginUrl, persona)).searchParams;
}

export function exchange({ issuer }: IdentityProvider, response: URLSearchParams, headers = {}): Promise<Response> {
  const parameters = {
    client_id: app.clientId,
    grant_type: "authorization_code",
    code: response.get("code") ?? "",
    redirect_uri: app.redirectUri,
    code_verifier: pkce.verifier,
  };
  return redeem(issuer, parameters, headers);
}
