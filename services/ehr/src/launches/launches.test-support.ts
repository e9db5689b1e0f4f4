import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { LaunchContextDto, LaunchDto } from "@ehr-marketplace/contracts";
import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import { type CleanUp, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { type Callers, fetchCallers, type RequestOptions, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { startEhr } from "@ehr-marketplace/tests/support/ehr";

export const riverside = "riverside-clinic";
export const hilltop = "hilltop-family-practice";
export const appUrl = "https://scribe.example/launch?theme=dark";

interface InstallOptions {
  slug?: string;
  orgAlias?: string;
  status?: "active" | "paused" | "removed";
  smartLaunchUrl?: string | null;
}

let nth = 0;

/** Installs an app by SQL, as events would. Returns its slug. */
export async function install(ownerUrl: string, options: InstallOptions = {}): Promise<string> {
  const { orgAlias = riverside, status = "active", smartLaunchUrl = appUrl } = options;
  nth += 1;
  const { slug = `app-${nth}` } = options;
  const subscription = randomUUID();
  await withClient(ownerUrl, async (client) => {
    await client.query(
      `insert into apps
         (slug, id, name, icon_url, category, extension_points, smart_launch_url, fhir_scopes, schema_known, updated_at)
       values ($1, gen_random_uuid(), 'An app', 'https://icons.example/a.svg', 'DOCUMENTATION', '{}', $2, 'launch', true, now())`,
      [slug, smartLaunchUrl],
    );
    await client.query("insert into subscriptions values ($1, $2, $3, 'active', now(), now())", [
      orgAlias,
      subscription,
      slug,
    ]);
    await client.query(
      `insert into installations (id, org_alias, app_slug, status, subscription_id, installed_at, updated_at)
       values (gen_random_uuid(), $1, $2, 'active', $3, now(), now())`,
      [orgAlias, slug, subscription],
    );
  });
  if (status !== "active") await setInstallationStatus(ownerUrl, slug, status);
  return slug;
}

export async function setInstallationStatus(
  ownerUrl: string,
  slug: string,
  status: "active" | "paused" | "removed",
): Promise<void> {
  await withClient(ownerUrl, (client) =>
    client.query(
      "update installations set status = $2, removed_at = case when $2 = 'removed' then now() end where app_slug = $1",
      [slug, status],
    ),
  );
}

export interface LaunchRow {
  id: string;
  org_alias: string;
  app_slug: string;
  launch_type: string;
  user_issuer: string;
  user_subject: string;
  patient_id: string | null;
  encounter_id: string | null;
  launched_at: Date;
}

export async function findLoggedLaunches(ownerUrl: string, slug: string): Promise<LaunchRow[]> {
  const { rows } = await withClient(ownerUrl, (client) =>
    client.query<LaunchRow>("select * from launches where app_slug = $1 order by launched_at, id", [slug]),
  );
  return rows;
}

export async function findContexts(ownerUrl: string, slug: string): Promise<Record<string, unknown>[]> {
  const { rows } = await withClient(ownerUrl, (client) =>
    client.query<Record<string, unknown>>("select * from launch_contexts where app_slug = $1", [slug]),
  );
  return rows;
}

/** The data of a successful response in the wrapper. */
export async function dataOf<T>(response: Response): Promise<T> {
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const { data, ...wrapper } = JSON.parse(text) as { success: boolean; message: string; data: T };
  assert.deepEqual(wrapper, { success: true, message: wrapper.message });
  assert.equal(typeof wrapper.message, "string");
  return data;
}

export interface LaunchEhr {
  url: string;
  ownerUrl: string;
  serviceUrl: string;
  callers: Callers;
  as(persona: Persona | null, path: string, request?: RequestOptions): Promise<Response>;
  launch(slug: string, body?: object, persona?: Persona): Promise<LaunchDto>;
  /** Redeems as an authorization server, by default with the organisation and user of the launch. */
  redeem(redeeming: { launch: string; appSlug: string; orgAlias?: string; user?: string }): Promise<Response>;
}

export function launchOf({ launchUrl }: LaunchDto): string {
  const launch = new URL(launchUrl ?? "").searchParams.get("launch");
  assert.ok(launch !== null, `no launch in ${launchUrl}`);
  return launch;
}

export const member = "riverside-member";

/** A client of the service at `url`. */
export function createLaunchClient(
  url: string,
  callers: Callers,
  database: { ownerUrl: string; serviceUrl: string },
): LaunchEhr {
  const as: LaunchEhr["as"] = (persona, path, request = {}) =>
    sendRequest(`${url}/api${path}`, persona === null ? undefined : callers.token(persona), request);
  return {
    url,
    ...database,
    callers,
    as,
    launch: async (slug, body = {}, persona = member) =>
      dataOf<LaunchDto>(await as(persona, `/app-installations/${slug}/launch`, { body })),
    redeem: (redeeming) =>
      as("launch-redeemer", "/internal/launch-contexts/consume", {
        body: { orgAlias: riverside, user: member, ...redeeming },
      }),
  };
}

export async function startLaunchEhr(cleanUp: CleanUp, environment: Record<string, string> = {}): Promise<LaunchEhr> {
  const callers = await fetchCallers();
  const database = await cloneDatabase(cleanUp, "ehr");
  const { url } = await startEhr(cleanUp, database.serviceUrl, { ...callers.environment, ...environment });
  return createLaunchClient(url, callers, database);
}

export const contextOf = (response: Response): Promise<LaunchContextDto> => dataOf<LaunchContextDto>(response);
