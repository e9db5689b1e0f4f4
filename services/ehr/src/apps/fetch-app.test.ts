import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import {
  change,
  configInClear,
  dataOf,
  install,
  putConfig,
  startPractice,
} from "../installations/installations.test-support.ts";
import { workbench } from "./apps.test-support.ts";
import { type Catalog, startCatalog } from "./catalog.test-support.ts";
import { type FetchDeps, type FetchResult, fetchApp } from "./fetch-app.ts";
import { createMarketplaceCatalog } from "./marketplace-catalog.ts";
import { createAppParser } from "./parse-app.ts";
import { refreshApps } from "./refresh-apps.ts";

const readApp = createAppParser({ allowsHttp: true });

interface AppRow {
  name: string;
  cds_services_url: string | null;
  catalog_etag: string | null;
  schema_known: boolean;
  config_schema: string | null;
  schema_problem: string | null;
  config_secrets: string | null;
  fetched_at: Date | null;
  catalog_absent_at: Date | null;
}

const appIn = (ownerUrl: string, slug: string): Promise<AppRow> =>
  withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<AppRow>("select * from apps where slug = $1", [slug]);
    return rows[0] ?? assert.fail(`${slug} is not known`);
  });

describe("fetching an app from the catalog", () => {
  const cleanUp = cleanUpAfter();
  let catalog: Catalog;
  let ownerUrl: string;
  let deps: FetchDeps;
  before(async () => {
    catalog = await startCatalog(cleanUp);
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    const connected = await connectAsService<DB>(cleanUp, database.serviceUrl);
    deps = { ...connected, catalog: createMarketplaceCatalog(catalog.url, { parseApp: readApp }) };
  });
  /** As if the last fetch were an hour ago. */
  const refetch = async (slug: string): Promise<FetchResult> => {
    await change(ownerUrl, "update apps set fetched_at = fetched_at - interval '1 hour' where slug = $1", [slug]);
    return fetchApp(deps, slug);
  };

  test("stores the app with its schema, and later only changes by a conditional request", async () => {
    const slug = await install(ownerUrl, { slug: "cuffline" });
    assert.equal(await fetchApp(deps, slug), "found");
    const first = await appIn(ownerUrl, slug);
    assert.deepEqual([first.name, first.schema_known], ["Cuffline", true]);
    assert.ok(first.catalog_etag);
    assert.equal(await refetch(slug), "found");
    const { fetched_at: later, ...unchanged } = await appIn(ownerUrl, slug);
    const { fetched_at: earlier, ...asBefore } = first;
    assert.deepEqual(unchanged, asBefore);
    assert.ok(earlier !== null && later !== null && later >= earlier);

    await change(catalog.ownerUrl, "update apps set name = 'Cuffline 2' where slug = $1", [slug]);
    await eventually("the catalog shows it", 30_000, async () => {
      await refetch(slug);
      return (await appIn(ownerUrl, slug)).name === "Cuffline 2";
    });
    assert.notEqual((await appIn(ownerUrl, slug)).catalog_etag, first.catalog_etag);
  });

  test("stores where an EHR discovers its CDS Hooks services, and follows the catalog", async () => {
    const slug = await install(ownerUrl, { slug: "ten-year-heart" });
    await fetchApp(deps, slug);
    const { cds_services_url: first } = await appIn(ownerUrl, slug);
    assert.match(first ?? "", /^https:.*\/cds-services$/);
    for (const moved of ["https://heart.example/v2/cds-services", null]) {
      await change(catalog.ownerUrl, "update apps set cds_services_url = $2 where slug = $1", [slug, moved]);
      await eventually("the catalog shows it", 30_000, async () => {
        await refetch(slug);
        return (await appIn(ownerUrl, slug)).cds_services_url === moved;
      });
    }
  });

  test("requests an app in full that an earlier version has stored, which knew fewer fields", async () => {
    const slug = await install(ownerUrl, { slug: "renal-rudder" });
    await fetchApp(deps, slug);
    const { catalog_etag, cds_services_url } = await appIn(ownerUrl, slug);
    assert.ok(catalog_etag !== null && cds_services_url !== null);
    await change(
      ownerUrl,
      "update apps set etag = catalog_etag, catalog_etag = null, cds_services_url = null where slug = $1",
      [slug],
    );
    await refetch(slug);
    const read = await appIn(ownerUrl, slug);
    assert.deepEqual([read.catalog_etag, read.cds_services_url], [catalog_etag, cds_services_url]);
  });

  test("keeps the stored fields of an app that the catalog no longer has", async () => {
    const slug = await install(ownerUrl, { slug: "inbox-heron" });
    await fetchApp(deps, slug);
    const published = await appIn(ownerUrl, slug);
    await catalog.unpublish(slug);
    assert.equal(await refetch(slug), "absent");
    const absent = await appIn(ownerUrl, slug);
    assert.deepEqual(absent.catalog_absent_at, absent.fetched_at);
    const { fetched_at, catalog_etag } = published;
    assert.deepEqual({ ...absent, fetched_at, catalog_etag, catalog_absent_at: null }, published);
    await catalog.publish(slug);
    assert.equal(await refetch(slug), "found");
    assert.equal((await appIn(ownerUrl, slug)).catalog_absent_at, null);
  });

  test("stores the problem of a schema outside the profile, and hides all configured values", async () => {
    const slug = await install(ownerUrl, { slug: "loose-ends" });
    await fetchApp(deps, slug);
    const draft07 = { type: "object", dependencies: { a: { properties: { key: { writeOnly: true } } } } };
    await change(catalog.ownerUrl, "update apps set config_schema = $2 where slug = $1", [slug, draft07]);
    await eventually("the catalog shows it", 30_000, async () => {
      await refetch(slug);
      return (await appIn(ownerUrl, slug)).schema_problem !== null;
    });
    const { config_schema, schema_problem, config_secrets } = await appIn(ownerUrl, slug);
    assert.deepEqual([config_schema, config_secrets], [null, '[""]']);
    assert.match(schema_problem ?? "", /"\/dependencies": "dependencies" is not supported/);
  });

  test("requests an app at most once a minute", async () => {
    const [known, absent] = [
      await install(ownerUrl, { slug: "quiet-room" }),
      await install(ownerUrl, { slug: "nobodys-app" }),
    ];
    const earlier = catalog.requested.length;
    for (let round = 0; round < 3; round += 1) {
      assert.equal(await fetchApp(deps, known), "found");
      assert.equal(await fetchApp(deps, absent), "absent");
    }
    assert.equal(catalog.requested.length - earlier, 2);
  });

  test("doesn't fetch an app without subscriptions", async () => {
    const earlier = catalog.requested.length;
    assert.equal(await fetchApp(deps, "lab-lantern"), "absent");
    assert.equal(catalog.requested.length, earlier);
  });
});

test("the hourly refresh sends one job for each stale installed app, immediate ones for unconfirmed apps, and daily ones for apps that the catalog lacks", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "ehr");
  const bench = await workbench(cleanUp, serviceUrl);
  const [due, , removed, neverRead, unpublished, awaited, absent, longAbsent] = [
    await install(ownerUrl, { schema: null }),
    await install(ownerUrl, { schema: null }),
    await install(ownerUrl, { schema: null, status: "removed" }),
    await install(ownerUrl),
    await install(ownerUrl, { schema: null }),
    await install(ownerUrl, { schema: null, status: "removed" }),
    await install(ownerUrl, { schema: null, status: "removed" }),
    await install(ownerUrl, { schema: null, status: "removed" }),
  ];
  const set = (change_: string, ...slugs: string[]): Promise<void> =>
    change(ownerUrl, `update apps set ${change_} where slug = any($1)`, [slugs]);
  await set("fetched_at = now() - interval '51 minutes'", due, removed);
  await set("catalog_absent_at = now(), fetched_at = now() - interval '51 minutes'", unpublished);
  await set("catalog_absent_at = now(), fetched_at = now() - interval '23 hours'", absent);
  await set("catalog_absent_at = now(), fetched_at = now() - interval '25 hours'", longAbsent);
  await change(ownerUrl, "update subscriptions set confirmed_at = null where app_slug = any($1)", [
    [awaited, absent, longAbsent],
  ]);
  for (let round = 0; round < 3; round += 1) await refreshApps(bench, () => 0.5);
  const jobs = (await bench.jobs()).map(({ slug, inSeconds }) => [slug, inSeconds]);
  assert.deepEqual(Object.fromEntries(jobs), {
    [due]: 900,
    [neverRead]: 900,
    [unpublished]: 900,
    [awaited]: 0,
    [longAbsent]: 0,
  });
  assert.equal(jobs.length, 5);
});

test("stored apps stay available while the marketplace is unavailable, and missing ones are fetched once it is back", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const catalog = await startCatalog(cleanUp);
  const practice = await startPractice(cleanUp, { MARKETPLACE_URL: catalog.url });
  const { ownerUrl, serviceUrl } = practice.database;
  const bench = await workbench(cleanUp, serviceUrl);
  const [known, later] = ["northwind-scribe", "cuffline"] as const;
  await install(ownerUrl, { slug: known });
  await bench.requestFetch(known);
  await eventually("it is known", 15_000, async () => (await appIn(ownerUrl, known)).schema_known);

  catalog.setMode("shut");
  await change(ownerUrl, "update apps set fetched_at = fetched_at - interval '1 hour'");
  await install(ownerUrl, { slug: later });
  for (const slug of [known, later]) await bench.requestFetch(slug);
  await eventually("both were tried", 15_000, async () => {
    const tried = (await bench.jobs()).filter(
      ({ slug, retries }) => [known, later].includes(slug as never) && retries > 0,
    );
    return tried.length === 2;
  });
  await dataOf(await putConfig(practice, known, { language: "fr-CA" }));
  assert.deepEqual(await configInClear(practice, known), { language: "fr-CA" });
  for (let nth = 0; nth < 20; nth += 1) await bench.requestFetch(later);
  assert.equal((await bench.jobs()).filter(({ slug }) => slug === later).length, 1, "however often it is requested");

  catalog.setMode("open");
  await change(ownerUrl, "update pgboss.job set start_after = now() where state = 'retry'");
  await eventually("it is known as well", 20_000, async () => (await appIn(ownerUrl, later)).schema_known);
});
