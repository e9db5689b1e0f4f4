import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { EventApp, InstallationDto } from "@ehr-marketplace/contracts";
import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import { type CleanUp, cloneDatabase, type ServiceDatabase, withClient } from "@ehr-marketplace/test-kit";
import { type Callers, fetchCallers, type RequestOptions, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { type RunningEhr, startEhr } from "@ehr-marketplace/tests/support/ehr";
import { inspectSchema } from "../apps/inspect-schema.ts";

export const riverside = "riverside-clinic";
export const hilltop = "hilltop-family-practice";

export interface Practice {
  database: ServiceDatabase;
  callers: Callers;
  ehr: RunningEhr;
  /** Another process of the same service. */
  startAnother(environment?: Record<string, string>): Promise<RunningEhr>;
  as(persona: Persona | null, path: string, request?: RequestOptions & { at?: RunningEhr }): Promise<Response>;
}

/** The EHR with tokens for all personas, and nothing installed. */
export async function startPractice(cleanUp: CleanUp, environment: Record<string, string> = {}): Promise<Practice> {
  const callers = await fetchCallers();
  const database = await cloneDatabase(cleanUp, "ehr");
  const startAnother = (more: Record<string, string> = {}): Promise<RunningEhr> =>
    startEhr(cleanUp, database.serviceUrl, { ...callers.environment, ...environment, ...more });
  const ehr = await startAnother();
  return {
    database,
    callers,
    ehr,
    startAnother,
    as: (persona, path, { at = ehr, ...request } = {}) =>
      sendRequest(`${at.url}/api${path}`, persona === null ? undefined : callers.token(persona), request),
  };
}

export interface InstallOptions {
  orgAlias?: string;
  slug?: string;
  name?: string;
  status?: "active" | "paused" | "removed";
  /** undefined: the app is stored from the marketplace's list of subscriptions, and the catalog wasn't read. */
  schema?: unknown;
}

let nth = 0;

/** Installs an app by SQL, as events and the catalog would. Returns its slug. */
export async function install(ownerUrl: string, options: InstallOptions = {}): Promise<string> {
  nth += 1;
  const { orgAlias = riverside, slug = `app-${nth}`, name = `App ${nth}`, status = "active" } = options;
  const { text, problem, secrets } = inspectSchema(options.schema ?? null);
  const isRead = "schema" in options;
  const hidden = secrets === null ? null : JSON.stringify(secrets);
  const subscription = randomUUID();
  const app: EventApp = {
    id: randomUUID(),
    slug,
    name,
    iconUrl: "https://icons.example/a.svg",
    category: "DOCUMENTATION",
    extensionPoints: ["note-panel"],
    smartLaunchUrl: null,
    fhirScopes: "launch",
  };
  const facts = [app.id, app.name, app.iconUrl, app.category, app.extensionPoints, app.fhirScopes];
  await withClient(ownerUrl, async (client) => {
    await client.query(
      `insert into apps (slug, id, name, icon_url, category, extension_points, fhir_scopes, config_schema,
         schema_known, schema_problem, config_secrets, fetched_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $11, $9, $10, case when $11 then now() end, now()) on conflict do nothing`,
      [slug, ...facts, text, problem, isRead ? hidden : '[""]', isRead],
    );
    await client.query(
      `insert into subscriptions (org_alias, id, app_slug, status, as_of, confirmed_at, listed_at)
       values ($1, $2, $3, 'active', now(), now(), case when not $4 then now() end)`,
      [orgAlias, subscription, slug, isRead],
    );
    await client.query(
      `insert into installations
         (id, org_alias, app_slug, status, subscription_id, installed_at, updated_at, removed_at)
       values (gen_random_uuid(), $1, $2, $3, $4, now(), now(), case when $3 = 'removed' then now() end)`,
      [orgAlias, slug, status, subscription],
    );
  });
  return slug;
}

export async function change(ownerUrl: string, statement: string, values: unknown[] = []): Promise<void> {
  await withClient(ownerUrl, (client) => client.query(statement, values));
}

/** The data of a response in the wrapper. */
export async function dataOf<T = unknown>(response: Response, status = 200): Promise<T> {
  const text = await response.text();
  assert.equal(response.status, status, text);
  assert.match(response.headers.get("content-type") ?? "", /^application\/json/);
  const { success, message, data, ...others } = JSON.parse(text) as { success: boolean; message: string; data: T };
  assert.deepEqual(others, {});
  assert.equal(success, true);
  assert.equal(typeof message, "string");
  return data;
}

export const putConfig = (
  practice: Practice,
  slug: string,
  body: unknown,
  persona: Persona = "riverside-admin",
): Promise<Response> => practice.as(persona, `/app-installations/${slug}/config`, { method: "PUT", body });

export const configShown = async (practice: Practice, slug: string): Promise<InstallationDto["config"]> =>
  (await dataOf<InstallationDto>(await practice.as("riverside-member", `/app-installations/${slug}`))).config;

export const configInClear = async (practice: Practice, slug: string): Promise<unknown> =>
  dataOf(
    await practice.as("ehr-service", `/internal/app-installations/${slug}/config`, {
      headers: { "x-org-alias": riverside },
    }),
  );
