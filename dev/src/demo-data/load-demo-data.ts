import type { ListingDraft } from "@ehr-marketplace/contracts";
import {
  createListing,
  createStorage,
  defaultUsageLimits,
  parseUsageLimits,
  putVendor,
} from "@ehr-marketplace/marketplace/publishing";
import { refreshSearchRanks } from "@ehr-marketplace/marketplace/rank-catalog";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { withClient } from "@ehr-marketplace/test-kit";
import type pg from "pg";
import { setPopularity } from "../catalog/insert-catalog.ts";
import { withDatabase } from "../catalog/with-database.ts";
import { developmentEncryptionKeys } from "../service-environments.ts";
import { demoApps } from "./apps.ts";
import type { DemoApp } from "./demo-app.ts";
import { draftOf } from "./demo-draft.ts";
import { demoOrganisations } from "./demo-organisations.ts";
import { insertOrganisations } from "./insert-organisations.ts";
import { demoOperator, developerOf, type PublishDeps, type PublishedApp, publishDemoApp } from "./publish-demo-app.ts";
import { demoVendors } from "./vendors.ts";

export interface DemoPlaces {
  publicUrl: string;
  demoAppUrl: string;
  /** The marketplace's `MEDIA_DIRECTORY`. */
  mediaDirectory: string;
  ehrUrl: string;
}

/** Before the first app was published. */
const vendorsRegisteredAt = new Date("2023-01-09T09:00:00.000Z");
const appsAtOnce = 3;

/** Publishes the demo apps by the code that publishes those of real vendors. What exists already stays as it is. */
export async function loadDemoData(ownerUrl: string, places: DemoPlaces): Promise<{ apps: number; vendors: number }> {
  const apps = demoApps(places.demoAppUrl);
  const storage = await createStorage({ directory: places.mediaDirectory });
  await withDatabase(ownerUrl, async (database, { queue }) => {
    const encryption = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
    const { publicUrl } = places;
    const usageLimits = parseUsageLimits(defaultUsageLimits);
    const deps: PublishDeps = { allowsHttp: true, usageLimits, database, queue, encryption, storage, publicUrl };
    for (const { slug, name, websiteUrl } of demoVendors) {
      const clock = (): Date => vendorsRegisteredAt;
      await putVendor({ database, clock }, demoOperator, slug, { name, websiteUrl });
    }
    await publishApps(deps, ownerUrl, apps);
    await withClient(ownerUrl, async (client) => {
      await client.query("begin");
      await setDemoPopularity(client, apps);
      await insertOrganisations(client, demoOrganisations, places.ehrUrl);
      await client.query("commit");
    });
    await refreshSearchRanks(database);
  });
  storage.stop();
  return { apps: apps.length, vendors: demoVendors.length };
}

async function publishApps(deps: PublishDeps, ownerUrl: string, apps: DemoApp[]): Promise<void> {
  const { listed, published } = await withClient(ownerUrl, readCatalog);
  // One after another, so that the apps have the same order in every database.
  for (const { slug, name, vendor, publishedAt } of apps.filter((app) => !listed.has(app.slug))) {
    const clock = (): Date => new Date(Date.parse(publishedAt) - 86_400_000);
    await createListing({ ...deps, clock }, developerOf(vendor), { slug, name });
  }
  const websites = new Map(demoVendors.map((vendor) => [vendor.slug, vendor.websiteUrl]));
  const waiting = apps.values();
  const publishWaiting = async (): Promise<void> => {
    for (const app of waiting) {
      const website = websites.get(app.vendor);
      if (website === undefined) throw new Error(`the demo data has no vendor ${app.vendor}`);
      await publishDemoApp(deps, app, { draft: draftOf(app, website), published: published.get(app.slug) });
    }
  };
  await Promise.all(Array.from({ length: appsAtOnce }, publishWaiting));
}

interface CatalogRow {
  slug: string;
  draft: ListingDraft | null;
  icon_url: string | null;
  featured: boolean | null;
}

/** The slugs of all listings, and what is published of them. */
async function readCatalog(client: pg.Client): Promise<{ listed: Set<string>; published: Map<string, PublishedApp> }> {
  const { rows } = await client.query<CatalogRow>(
    `select listings.slug, revisions.draft, apps.icon_url, apps.featured
     from listings
     left join revisions on revisions.app_id = listings.app_id and revisions.number = listings.published_revision
     left join apps on apps.id = listings.app_id
     where listings.slug = any ($1)`,
    [demoApps("").map(({ slug }) => slug)],
  );
  const published = rows.flatMap(({ slug, draft, icon_url: iconUrl, featured }): [string, PublishedApp][] =>
    draft === null ? [] : [[slug, { draft, iconUrl: iconUrl ?? "", featured: featured === true }]],
  );
  return { listed: new Set(rows.map(({ slug }) => slug)), published: new Map(published) };
}

async function setDemoPopularity(client: pg.Client, apps: DemoApp[]): Promise<void> {
  const { rows } = await client.query<{ id: string; slug: string }>("select id, slug from apps");
  const ids = new Map(rows.map(({ id, slug }) => [slug, id]));
  await setPopularity(
    client,
    apps.map(({ slug, subscribers }) => ({ app_id: ids.get(slug) ?? "", popularity: subscribers })),
  );
}
