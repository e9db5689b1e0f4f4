import type pg from "pg";

export interface VendorRow {
  id: string;
  slug: string;
  name: string;
  website_url: string;
}

export interface AppRow {
  id: string;
  slug: string;
  vendor_id: string;
  category: string;
  name: string;
  summary: string;
  description: string;
  icon_url: string;
  version: string;
  featured: boolean;
  extension_points: string[];
  smart_launch_url: string | null;
  fhir_scopes: string;
  screenshots: string[];
  website_url: string;
  support_url: string;
  privacy_policy_url: string;
  terms_url: string;
  config_schema: object | null;
  baa_available: boolean;
  published_at: string;
  updated_at: string;
}

export interface PlanRow {
  id: string;
  app_id: string;
  position: number;
  name: string;
  description: string;
  pricing_model: string;
  currency: string;
  amount: number | string | null;
  interval: string | null;
  trial_days: number;
  unit_name: string | null;
  included_units: number | null;
  tiers: object[];
  tier_mode: string | null;
  metric: string | null;
  aggregation: string | null;
  features: string[];
}

const appColumns = [
  "vendor_id, category, name, summary, description, icon_url, version, featured, extension_points, smart_launch_url",
  "fhir_scopes, screenshots, website_url, support_url, privacy_policy_url, terms_url, config_schema, baa_available",
  "published_at, updated_at",
].join(", ");

/** Inserts or updates vendors by slug; existing vendors keep their ids. */
export async function insertVendors(client: pg.Client, vendors: VendorRow[]): Promise<Map<string, string>> {
  const { rows } = await client.query<{ id: string; slug: string }>(
    `insert into vendors (id, slug, name, website_url)
     select id, slug, name, website_url from json_populate_recordset(null::vendors, $1)
     on conflict (slug) do update set name = excluded.name, website_url = excluded.website_url
     returning id, slug`,
    [JSON.stringify(vendors)],
  );
  return new Map(rows.map((row) => [row.slug, row.id]));
}

/** Inserts or updates apps by slug. New apps are drafts until `publishApps` publishes them with their plans. */
export async function insertApps(client: pg.Client, apps: AppRow[]): Promise<Map<string, string>> {
  const { rows } = await client.query<{ id: string; slug: string }>(
    `insert into apps (id, slug, status, ${appColumns})
     select id, slug, 'draft', ${appColumns} from json_populate_recordset(null::apps, $1)
     on conflict (slug) do update set (${appColumns}) = row(${excluded(appColumns)})
     returning id, slug`,
    [JSON.stringify(apps)],
  );
  return new Map(rows.map((row) => [row.slug, row.id]));
}

/** Published plans never change, so a plan whose name exists is skipped. */
export async function insertPlans(client: pg.Client, plans: PlanRow[]): Promise<void> {
  await client.query(
    `insert into pricing_plans (
       id, app_id, position, name, description, pricing_model, currency, amount, interval, trial_days, unit_name,
       included_units, tiers, tier_mode, metric, aggregation, features, published_at
     )
     select
       id, app_id, position, name, description, pricing_model, currency, amount, interval, trial_days, unit_name,
       included_units, tiers, tier_mode, metric, aggregation, features, now()
     from json_populate_recordset(null::pricing_plans, $1)
     on conflict (app_id, name) where published_at is not null and retired_at is null do nothing`,
    [JSON.stringify(plans)],
  );
}

export async function publishApps(client: pg.Client, ids: Iterable<string>): Promise<void> {
  await client.query("update apps set status = 'published' where id = any ($1) and status <> 'published'", [[...ids]]);
}

/** Sets the popularity until a worker counts the subscriptions again. */
export async function setPopularity(
  client: pg.Client,
  popularity: { app_id: string; popularity: number }[],
): Promise<void> {
  await client.query(
    `update app_popularity set popularity = given.popularity
     from json_populate_recordset(null::app_popularity, $1) given
     where app_popularity.app_id = given.app_id and app_popularity.popularity <> given.popularity`,
    [JSON.stringify(popularity)],
  );
}

function excluded(columns: string): string {
  return columns.replace(/\w+/g, (column) => `excluded.${column}`);
}
