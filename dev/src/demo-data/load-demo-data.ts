import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { refreshSearchRanks } from "@ehr-marketplace/marketplace/rank-catalog";
import { withClient } from "@ehr-marketplace/test-kit";
import { v7 as uuid } from "uuid";
import {
  type AppRow,
  insertApps,
  insertPlans,
  insertVendors,
  type PlanRow,
  publishApps,
  setPopularity,
} from "../catalog/insert-catalog.ts";
import { withDatabase } from "../catalog/with-database.ts";
import { demoApps } from "./apps.ts";
import type { DemoApp, DemoPlan } from "./demo-app.ts";
import { demoOrganisations } from "./demo-organisations.ts";
import { drawIcon } from "./draw-icon.ts";
import { drawScreenshot } from "./draw-screenshot.ts";
import { insertOrganisations } from "./insert-organisations.ts";
import { demoVendors } from "./vendors.ts";

export interface DemoPlaces {
  publicUrl: string;
  demoAppUrl: string;
  mediaDirectory: string;
  ehrUrl: string;
}

const iconFile = (app: DemoApp): string => `${app.slug}.svg`;
const screenshotFile = (app: DemoApp, index: number): string => `${app.slug}-${index + 1}.svg`;

async function drawMedia(apps: DemoApp[], directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const files = apps.flatMap((app) => [
    [iconFile(app), drawIcon(app)] as const,
    ...app.screenshotTitles.map(
      (title, index) => [screenshotFile(app, index), drawScreenshot(app, title, index)] as const,
    ),
  ]);
  await Promise.all(files.map(([name, picture]) => writeFile(join(directory, name), picture)));
}

function appRow(app: DemoApp, vendorId: string, website: string, publicUrl: string): AppRow {
  const site = `${website}/${app.slug}`;
  return {
    id: uuid(),
    slug: app.slug,
    vendor_id: vendorId,
    category: app.category,
    name: app.name,
    summary: app.summary,
    description: app.description,
    icon_url: `${publicUrl}/media/${iconFile(app)}`,
    version: app.version,
    featured: app.featured,
    extension_points: app.extensionPoints,
    smart_launch_url: app.smartLaunchUrl,
    fhir_scopes: app.fhirScopes,
    screenshots: app.screenshotTitles.map((_title, index) => `${publicUrl}/media/${screenshotFile(app, index)}`),
    website_url: site,
    support_url: `${site}/support`,
    privacy_policy_url: `${website}/privacy`,
    terms_url: `${website}/terms`,
    config_schema: app.configSchema,
    baa_available: app.baaAvailable,
    published_at: app.publishedAt,
    updated_at: app.updatedAt,
  };
}

function planRow(plan: DemoPlan, appId: string, position: number): PlanRow {
  return {
    id: uuid(),
    app_id: appId,
    position,
    name: plan.name,
    description: plan.description,
    pricing_model: plan.pricingModel,
    currency: plan.currency,
    amount: plan.amount,
    interval: plan.interval,
    trial_days: plan.trialDays ?? 0,
    unit_name: plan.unitName ?? null,
    included_units: plan.includedUnits ?? null,
    tiers: plan.tiers ?? [],
    tier_mode: plan.tierMode ?? null,
    metric: plan.metric ?? null,
    aggregation: plan.aggregation ?? null,
    features: plan.features,
  };
}

function must<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`the demo data names ${what}, which it doesn't hold`);
  return value;
}

export async function loadDemoData(ownerUrl: string, places: DemoPlaces): Promise<{ apps: number; vendors: number }> {
  const apps = demoApps(places.demoAppUrl);
  await drawMedia(apps, places.mediaDirectory);
  await withClient(ownerUrl, async (client) => {
    await client.query("begin");
    const vendorIds = await insertVendors(
      client,
      demoVendors.map(({ slug, name, websiteUrl }) => ({ id: uuid(), slug, name, website_url: websiteUrl })),
    );
    const websites = new Map(demoVendors.map((vendor) => [vendor.slug, vendor.websiteUrl]));
    const appIds = await insertApps(
      client,
      apps.map((app) => {
        const vendorId = must(vendorIds.get(app.vendor), app.vendor);
        return appRow(app, vendorId, must(websites.get(app.vendor), app.vendor), places.publicUrl);
      }),
    );
    const idOf = (app: DemoApp): string => must(appIds.get(app.slug), app.slug);
    await insertPlans(
      client,
      apps.flatMap((app) => app.plans.map((plan, position) => planRow(plan, idOf(app), position))),
    );
    await publishApps(client, appIds.values());
    await setPopularity(
      client,
      apps.map((app) => ({ app_id: idOf(app), popularity: app.subscribers })),
    );
    await insertOrganisations(client, demoOrganisations, places.ehrUrl);
    await client.query("commit");
  });
  await withDatabase(ownerUrl, (database) => refreshSearchRanks(database));
  return { apps: apps.length, vendors: demoVendors.length };
}
