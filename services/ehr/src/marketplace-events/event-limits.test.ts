import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, beforeEach, describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import { type Callers, fetchCallers, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { type RunningEhr, startEhr } from "@ehr-marketplace/tests/support/ehr";
import { type FetchJob, type Workbench, workbench } from "../apps/apps.test-support.ts";
import { type Catalog, startCatalog } from "../apps/catalog.test-support.ts";
import { refreshApps } from "../apps/refresh-apps.ts";
import { reserveAppFetch, takeAppFetch } from "../organisations/app-fetch-rate.ts";
import { eventOf, hilltop, riverside, secretOf, send, storeApps } from "./events.test-support.ts";

const began = Date.now() - 3_600_000;

describe("limits of verified events of one organisation", () => {
  const cleanUp = cleanUpAfter();
  let ehr: RunningEhr;
  let ownerUrl: string;
  let catalog: Catalog;
  let callers: Callers;
  let bench: Workbench;
  before(async () => {
    catalog = await startCatalog(cleanUp);
    callers = await fetchCallers();
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    ehr = await startEhr(cleanUp, database.serviceUrl, { ...callers.environment, MARKETPLACE_URL: catalog.url });
    bench = await workbench(cleanUp, database.serviceUrl);
    await storeApps(ownerUrl, ["known-app", "other-app"]);
  });
  beforeEach(async () => {
    await change("delete from installations");
    await change("delete from subscriptions");
    await change("update organisations set app_fetches_until = null");
  });
  const change = (statement: string, values: unknown[] = []): Promise<unknown> =>
    withClient(ownerUrl, (client) => client.query(statement, values));
  const sendEvent = (app: string, changes: Partial<Parameters<typeof eventOf>[0]> = {}) => {
    const orgAlias = changes.orgAlias ?? riverside;
    const body = eventOf({ what: "created", id: randomUUID(), app, at: began, ...changes });
    return send(ehr.url, { body, secret: secretOf(orgAlias) });
  };
  const applied = { status: 200, message: "applied" };
  const jobsFor = async (slug: string): Promise<FetchJob[]> => (await bench.jobs()).filter((job) => job.slug === slug);
  const isInstalled = async (slug: string): Promise<boolean> => {
    const url = `${ehr.url}/api/app-installations/${slug}/installed`;
    const response = await sendRequest(url, callers.token("riverside-member"), {});
    return ((await response.json()) as { data: boolean }).data;
  };
  const has = (count: number, status: string, confirmed: string): Promise<unknown> =>
    change(
      `insert into subscriptions select $1, gen_random_uuid(), 'known-app', $3, now(), ${confirmed} from generate_series(1, $2)`,
      [riverside, count, status],
    );
  const refused = async (app: string, why: RegExp, changes: Parameters<typeof sendEvent>[1] = {}): Promise<void> => {
    const countOf = () =>
      withClient(ownerUrl, (client) =>
        client.query("select count(*) from subscriptions union all select count(*) from apps"),
      );
    const { rows } = await countOf();
    const { status, message } = await sendEvent(app, changes);
    assert.equal(status, 422, message);
    assert.match(message, why);
    assert.deepEqual((await countOf()).rows, rows, "nothing is left of it");
  };

  test("1,000 live subscriptions; cancelling is always possible", async () => {
    await has(999, "active", "now()");
    const id = randomUUID();
    assert.deepEqual(await sendEvent("known-app", { id }), applied);
    await refused("other-app", /1000 live subscriptions/);
    await refused("other-app", /1000 live subscriptions/, { what: "paused" });
    assert.deepEqual(
      await sendEvent("known-app", { id, what: "paused", at: began + 1 }),
      applied,
      "one that is live may change",
    );
    assert.deepEqual(
      await sendEvent("other-app", { orgAlias: hilltop }),
      applied,
      "doesn't count configurations of other organisations",
    );
    assert.deepEqual(await sendEvent("known-app", { id, what: "cancelled", at: began + 2 }), applied);
    assert.deepEqual(await sendEvent("other-app"), applied);
    await refused("known-app", /1000 live subscriptions/, { id, what: "resumed", at: began + 3 });
  });

  test("1,000 live subscriptions, confirmed or not: a few hundred forged ones keep no genuine one out", async () => {
    await has(998, "active", "null");
    assert.deepEqual(await sendEvent("a-new-app"), applied);
    assert.deepEqual(await sendEvent("known-app"), applied);
    await refused("another-new-app", /1000 live subscriptions/);
  });

  test("one app for each subscription: an event that names another changes nothing", async () => {
    const id = randomUUID();
    assert.deepEqual(await sendEvent("known-app", { id }), applied);
    const reserved = () =>
      withClient(ownerUrl, async (client) => {
        const jobs = await client.query("select from pgboss.job where data->>'slug' like 'invented-%'");
        const until = await client.query("select app_fetches_until from organisations order by alias");
        return [jobs.rowCount, until.rows];
      });
    const earlier = await reserved();
    for (const what of ["created", "paused", "cancelled"] as const) {
      await refused(`invented-${what}`, /stored with another app/, { id, what, at: Date.now() });
    }
    assert.deepEqual(await reserved(), earlier);
    assert.deepEqual(await sendEvent("known-app", { id, what: "cancelled", at: began + 1 }), applied);
    await refused("other-app", /stored with another app/, { id, what: "resumed", at: Date.now() });
  });

  test("10,000 subscriptions in total, including cancelled ones", async () => {
    await has(9_999, "cancelled", "now()");
    const id = randomUUID();
    assert.deepEqual(await sendEvent("known-app", { id }), applied);
    await refused("other-app", /10000 subscriptions, cancelled ones included/);
    await refused("other-app", /10000 subscriptions/, { what: "cancelled" });
    assert.deepEqual(await sendEvent("known-app", { id, what: "cancelled", at: began + 1 }), applied);
  });

  test("30 catalog requests at once and then 30 a minute, over all processes", async () => {
    const now = new Date();
    const reserve = (orgAlias: string, at = now): Promise<number | undefined> =>
      bench.database.transaction().execute((transaction) => reserveAppFetch(transaction, orgAlias, at));
    const waits: (number | undefined)[] = [];
    for (let nth = 0; nth < 33; nth += 1) waits.push(await reserve(riverside));
    assert.deepEqual(waits, [...Array.from({ length: 30 }, () => 0), 2, 4, 6]);
    assert.equal(await takeAppFetch(bench.database, riverside, now), 8, "requests of users count as well");
    assert.equal(await takeAppFetch(bench.database, hilltop, now), 0, "others have a rate of their own");
    const later = new Date(now.getTime() + 8_000);
    assert.equal(await takeAppFetch(bench.database, riverside, later), 0);
    assert.equal(await takeAppFetch(bench.database, riverside, later), 2, "what is refused doesn't count");
    assert.equal(await reserve(riverside, later), 2);
  });

  test("64 characters of a slug, 255 of a delivery id, 64 of a time", async () => {
    const event = eventOf({ what: "created", id: randomUUID(), at: began, app: "known-app" });
    for (const [sending, why] of [
      [{ body: { ...event, app: { slug: "a".repeat(65) } } }, /app\/slug/],
      [{ body: { ...event, timestamp: `2026-03-18T09:30:00.${"0".repeat(44)}Z` } }, /timestamp/],
      [{ body: event, deliveryId: "x".repeat(256) }, /x-marketplace-delivery-id/],
    ] as const) {
      const { status, message } = await send(ehr.url, sending);
      assert.equal(status, 400);
      assert.match(message, why);
    }
    assert.deepEqual(await send(ehr.url, { body: event, deliveryId: "x".repeat(255) }), applied);
  });

  test("five minutes of reserved catalog requests, so that a genuine app doesn't wait for hours", async () => {
    const now = new Date();
    const reserve = (): Promise<number | undefined> =>
      bench.database.transaction().execute((transaction) => reserveAppFetch(transaction, riverside, now));
    const waits: (number | undefined)[] = [];
    for (let nth = 0; nth < 160; nth += 1) waits.push(await reserve());
    assert.deepEqual(waits.slice(148), [238, 240, ...Array.from({ length: 10 }, () => undefined)]);
    await change("update organisations set app_fetches_until = now() + interval '1 hour' where alias = $1", [
      riverside,
    ]);
    assert.deepEqual(await sendEvent("inbox-heron"), applied);
    assert.deepEqual(await jobsFor("inbox-heron"), [], "no job is sent");
    await refreshApps(bench);
    await eventually("the hourly refresh finds it", 20_000, () => isInstalled("inbox-heron"));
  });

  test("beyond its requests, an organisation waits for a job and causes no request", async () => {
    await change("update organisations set app_fetches_until = now() + interval '4 minutes' where alias = $1", [
      riverside,
    ]);
    const earlier = catalog.requested.length;
    assert.deepEqual(await sendEvent("lab-lantern"), applied);
    const [job] = await jobsFor("lab-lantern");
    assert.ok(job !== undefined && job.inSeconds > 120, JSON.stringify(job));
    const url = `${ehr.url}/api/app-installations/lab-lantern`;
    const launch = await sendRequest(`${url}/launch`, callers.token("riverside-member"), { body: {} });
    assert.match(await assertFailure(launch, 429), /30 requests a minute to the marketplace's catalog are used up/);
    const wait = Number(launch.headers.get("retry-after"));
    assert.ok(wait > 120 && wait <= 190, `${wait} s`);
    assert.equal(launch.headers.get("ratelimit-limit"), "30");
    assert.deepEqual(
      catalog.requested.slice(earlier).filter((path) => path.endsWith("/lab-lantern")),
      [],
    );
    assert.deepEqual(await sendEvent("lab-lantern", { orgAlias: hilltop }), applied);
    await eventually("another organisation's event fetches it for both", 20_000, () => isInstalled("lab-lantern"));
  });
});
