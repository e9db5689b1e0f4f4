import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppDto } from "@ehr-marketplace/contracts";
import { loadDemoData } from "@ehr-marketplace/dev/demo-data";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { demoSettings } from "@ehr-marketplace/tests/support/demo-settings";
import { type RunningMarketplace, startMarketplace } from "@ehr-marketplace/tests/support/marketplace";

describe("the demo catalog is published as apps of real vendors are", () => {
  const cleanUp = cleanUpAfter();
  let ownerUrl: string;
  let marketplace: RunningMarketplace;
  let apps: AppDto[];

  const query = async <Row extends object>(text: string): Promise<Row[]> =>
    (await withClient(ownerUrl, (client) => client.query<Row>(text))).rows;

  before(async () => {
    const database = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = database);
    marketplace = await startMarketplace(cleanUp, database.serviceUrl);
    ({ content: apps } = (await (await marketplace.get("/apps?size=100")).json()) as { content: AppDto[] });
  });

  test("each revision of each app was submitted by its vendor, and approved by somebody else", async () => {
    const revisions = await query<{
      slug: string;
      number: number;
      adopted: boolean;
      status: string;
      editors: string[];
    }>(
      `select slug, number, adopted,
         (select status from reviews where (reviews.app_id, reviews.number) = (revisions.app_id, revisions.number)) as status,
         array(
           select subject from revision_editors editor
           where (editor.app_id, editor.number) = (revisions.app_id, revisions.number)
         ) as editors
       from listings join revisions using (app_id) order by slug, number`,
    );
    const vendors = new Map(apps.map(({ slug, vendor }) => [slug, vendor.slug]));
    const slugs = [...vendors.keys()].toSorted();
    assert.equal(vendors.size, 60);
    // The first release and the current version.
    assert.deepEqual(
      revisions,
      slugs.flatMap((slug) =>
        [1, 2].map((number) => ({ slug, number, adopted: false, status: "approved", editors: [vendors.get(slug)] })),
      ),
    );
    const [{ apps: unlisted } = {}] = await query<{ apps: string }>(
      "select count(*) as apps from apps where not exists (select from listings where published_revision = 2 and app_id = apps.id)",
    );
    assert.equal(unlisted, "0");
  });

  test("its pictures come from the marketplace's media storage, each screenshot with an alternative text", async () => {
    for (const { slug, iconUrl, screenshots, screenshotTexts } of apps) {
      assert.ok(screenshots.length > 0, slug);
      assert.equal(screenshotTexts.filter((text) => text.trim() !== "").length, screenshots.length, slug);
      for (const [url, type] of [[iconUrl, "image/png"], ...screenshots.map((each) => [each, "image/webp"])]) {
        const response = await fetch(new URL(new URL(url ?? "").pathname, marketplace.url));
        assert.deepEqual([response.status, response.headers.get("content-type")], [200, type], url);
        assert.equal((await response.arrayBuffer()).byteLength, Number(response.headers.get("content-length")));
      }
    }
  });

  test("no app is newer than its last approval, and the practices know who uses it and why it needs its scopes", () => {
    for (const { slug, audience, fhirScopes, scopePurposes, publishedAt, updatedAt } of apps) {
      assert.ok(publishedAt !== null && publishedAt < updatedAt && updatedAt < new Date().toISOString(), slug);
      assert.ok(audience !== null, slug);
      const resourceScopes = fhirScopes.split(" ").filter((scope) => scope.includes("/"));
      assert.deepEqual(Object.keys(scopePurposes).toSorted(), resourceScopes.toSorted(), slug);
    }
  });

  test("loading it again changes nothing", async () => {
    const tables = ["vendors", "listings", "revisions", "reviews", "media", "apps", "pricing_plans", "audit_entries"];
    const read = async (): Promise<string[]> => {
      const hashes = tables.map(
        (table) => `(select md5(string_agg(t::text, ' ' order by t::text)) from ${table} t) as ${table}`,
      );
      return Object.entries((await query<Record<string, string>>(`select ${hashes.join()}`))[0] ?? {}).flat();
    };
    const first = await read();
    await loadDemoData(ownerUrl, demoSettings);
    assert.deepEqual(await read(), first);
  });

  test("an app is published again if its pictures have another address, and keeps its plans", async () => {
    const slug = "northwind-scribe";
    const plans = await (await marketplace.get(`/apps/${slug}/pricing`)).json();
    await query(`update apps set icon_url = 'http://127.0.0.1:9/media/x' where slug = '${slug}'`);
    await loadDemoData(ownerUrl, demoSettings);
    const app = (await (await marketplace.get(`/apps/${slug}`)).json()) as AppDto;
    assert.ok(app.iconUrl.startsWith(`${demoSettings.publicUrl}/media/`));
    assert.deepEqual(await (await marketplace.get(`/apps/${slug}/pricing`)).json(), plans);
  });
});
