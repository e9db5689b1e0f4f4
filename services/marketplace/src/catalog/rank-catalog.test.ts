import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppDto, AppPage } from "@ehr-marketplace/contracts";
import { loadSubscribers } from "@ehr-marketplace/dev/demo-data";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { subscribed } from "../subscriptions/subscribe.test-support.ts";
import { type RankingResult, rankCatalog } from "./rank-catalog.ts";

const nothing: RankingResult = { popularity: 0, tiers: 0, words: 0 };

describe("ranking the catalog by live subscriptions", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let connected: ServiceConnection<DB>;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    await loadSubscribers(marketplace.database.ownerUrl, "https://ehr.example");
    connected = await connectAsService<DB>(cleanUp, marketplace.database.serviceUrl);
  });
  const rank = (): Promise<RankingResult> => rankCatalog(connected.database, connected);
  const query = async <T>(text: string, ...values: unknown[]): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(text, values)).rows as T[]);
  const slugs = (apps: AppDto[]): string[] => apps.map(({ slug }) => slug);
  const page = async (search: string): Promise<string[]> =>
    slugs(((await (await marketplace.get(`/apps?${search}`)).json()) as AppPage).content);
  const list = async (path: string): Promise<string[]> =>
    slugs((await (await marketplace.get(path)).json()) as AppDto[]);
  /** The version of each row, which changes with every write, even of the same values. */
  const versions = async (): Promise<Map<string, string>> => {
    const rows = await query<{ row: string; version: string }>(
      `select 'popularity ' || slug as row, p.xmin || ' ' || p.ctid as version from app_popularity p join apps on id = app_id
       union all select 'tier ' || slug, s.xmin || ' ' || s.ctid from app_search s join apps on id = app_id
       union all select 'listing ' || slug, xmin || ' ' || ctid from app_listings
       union all select 'word ' || word, xmin || ' ' || ctid from search_words`,
    );
    return new Map(rows.map(({ row, version }) => [row, version]));
  };

  test("writes nothing and invalidates no cache when the demo data is ranked already", async () => {
    await withClient(marketplace.database.ownerUrl, async (client) => {
      const heard: string[] = [];
      client.on("notification", ({ channel }) => heard.push(channel));
      await client.query("listen catalog_changed");
      const stored = await versions();
      assert.deepEqual(await rank(), nothing);
      assert.deepEqual(await versions(), stored);
      await client.query("select 1");
      assert.deepEqual(heard, []);
    });
  });

  test("an app that gains live subscriptions moves up once the job has run, in every order by popularity", async () => {
    const [first = "", second = ""] = await page("sort=popularity,desc");
    const [inCategory] = await query<{ category: string; featured: boolean }>(
      "select category, featured from app_listings where slug = $1",
      second,
    );
    // Both get the same category and are featured, so that they are adjacent in all orders.
    await query("update apps set category = $1, featured = true where slug = any ($2)", inCategory?.category, [
      first,
      second,
    ]);
    const orders = async (): Promise<string[][]> =>
      (
        await Promise.all([
          page("size=100&sort=popularity,desc"),
          page("size=100&sort=popularity").then((upwards) => upwards.toReversed()),
          page(`size=100&sort=popularity,desc&category=${inCategory?.category}`),
          list("/apps/featured"),
          list(`/apps/search?category=${inCategory?.category}`),
        ])
      ).map((order) => order.filter((slug) => slug === first || slug === second));
    await eventually("the change is shown", 20_000, async () =>
      (await orders()).every((order) => order.length === 2 && order[0] === first),
    );
    await rank();

    const paused = await subscribed(marketplace, second, { by: "riverside-admin" });
    await marketplace.requestAs("riverside-admin", `/subscriptions/${paused.id}/pause`, {
      body: { reason: "ORG_REQUEST" },
    });
    const other = await subscribed(marketplace, second, { by: "hilltop-admin", orgAlias: "hilltop-family-practice" });
    assert.ok(
      (await orders()).every((order) => order[0] === first),
      "until then nothing changes",
    );
    const stored = await versions();
    assert.deepEqual(await rank(), { ...nothing, popularity: 1 });
    await eventually("all orders have changed", 20_000, async () =>
      (await orders()).every((order) => order[0] === second),
    );
    const now = await versions();
    assert.deepEqual(
      [...now].filter(([row, version]) => stored.get(row) !== version).map(([row]) => row),
      [`popularity ${second}`],
      "only what has changed is written",
    );

    await marketplace.requestAs("hilltop-admin", `/subscriptions/${other.id}/cancel`, { method: "POST" });
    assert.deepEqual(await rank(), { ...nothing, popularity: 1 });
    const [{ popularity } = { popularity: -1 }] = await query<{ popularity: number }>(
      "select popularity from app_popularity join apps on id = app_id where slug = $1",
      second,
    );
    assert.equal(popularity, 60, "a paused one is live, a cancelled one isn't");
  });

  test("two concurrent workers write each change once", async () => {
    await query(
      "update app_popularity set popularity = 0 where app_id in (select app_id from app_popularity limit 30)",
    );
    const [{ wrong } = { wrong: 0 }] = await query<{ wrong: number }>(
      `select count(*)::int as wrong from app_popularity p
       where popularity <> (select count(*) from subscriptions s where s.app_id = p.app_id and status <> 'cancelled')`,
    );
    assert.ok(wrong >= 28);
    const both = await Promise.all([rank(), rank()]);
    assert.equal(both[0].popularity + both[1].popularity, wrong);
    assert.deepEqual(await rank(), nothing);
  });

  test("deletes words that no app has any more; the service can delete no others", async () => {
    await query("update apps set name = 'Xylographica' where slug = 'inbox-heron'");
    await query("update apps set name = 'Inbox Heron' where slug = 'inbox-heron'");
    assert.ok((await rank()).words > 0);
    const left = await query("select word from search_words where word in ('xylographica', 'heron')");
    assert.deepEqual(left, [{ word: "heron" }]);
    const result = await withClient(marketplace.database.serviceUrl, (client) =>
      client.query("select delete_unused_search_words(array(select word from search_words)) as deleted"),
    );
    assert.deepEqual(result.rows, [{ deleted: 0 }]);
  });

  test("counts the apps that have a word, as it is or by its stem", async () => {
    await query("update search_words set apps = 7777 where word = 'heron'");
    assert.deepEqual(await rank(), { ...nothing, words: 1 });
    const [{ apps } = { apps: 0 }] = await query<{ apps: number }>(
      "select apps from search_words where word = 'heron'",
    );
    const found = await query<{ n: number }>(
      "select count(*)::int as n from app_search where words @@ any_of(array['heron'])",
    );
    assert.equal(apps, found[0]?.n);
  });
});

describe("ranking a catalog with more apps than the first tiers hold", () => {
  const cleanUp = cleanUpAfter();
  let connected: ServiceConnection<DB>;
  let ownerUrl: string;
  before(async () => {
    const database = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = database);
    await loadSubscribers(ownerUrl, "https://ehr.example");
    connected = await connectAsService<DB>(cleanUp, database.serviceUrl);
    await withClient(ownerUrl, (client) =>
      client.query(
        `insert into apps (id, slug, vendor_id, category, status, name, summary, description, icon_url, version, published_at)
         select gen_random_uuid(), 'made-' || n, (select id from vendors limit 1), 'FINANCIAL', 'published', 'Made ' || n,
           'Made', 'Made', 'https://icons.example/x', '1', now()
         from generate_series(1, 1500) n`,
      ),
    );
  });
  const rank = (): Promise<RankingResult> => rankCatalog(connected.database, connected);
  const tiers = async (): Promise<Record<string, number>> =>
    withClient(ownerUrl, async (client) => {
      const { rows } = await client.query<{ tier: number; apps: number }>(
        "select tier, count(*)::int as apps from app_search group by tier order by tier",
      );
      return Object.fromEntries(rows.map(({ tier, apps }) => [tier, apps]));
    });

  test("fills the tiers by popularity, without blocking writers meanwhile", async () => {
    await withClient(ownerUrl, (client) => client.query("update app_search set tier = 4"));
    const over = new AbortController();
    let turns = 0;
    const writer = withClient(ownerUrl, async (client) => {
      while (!over.signal.aborted) {
        await client.query("update apps set version = version where slug = 'inbox-heron'");
        turns += 1;
      }
    });
    const ranked = await rank().finally(() => over.abort());
    await writer;
    assert.deepEqual(await tiers(), { 0: 250, 1: 1_000, 2: 310 });
    assert.equal(ranked.tiers, 1_560);
    assert.ok(turns >= 15, `a writer had ${turns} turns`);
    const { rows } = await withClient(ownerUrl, (client) =>
      client.query(
        "select count(*)::int as popular from app_search where tier = 0 and app_id in (select app_id from subscriptions)",
      ),
    );
    assert.deepEqual(rows, [{ popular: 60 }], "apps with subscriptions come first");
    await rank();
    assert.deepEqual(await rank(), nothing);
  });

  test("writes only two apps when they swap tiers", async () => {
    const place = (nth: number): string =>
      `(select app_id from app_popularity order by popularity desc, app_id desc limit 1 offset ${nth})`;
    const { rows } = await withClient(ownerUrl, (client) =>
      client.query<{ id: string; plan: string }>(
        `with plan as (
           insert into pricing_plans (id, app_id, position, name, description, pricing_model, currency, amount, published_at)
           select gen_random_uuid(), app_id, 0, 'n', 'd', 'FREE', 'USD', 0, now() from ${place(250)} as chosen
           returning id, app_id
         )
         insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, revision)
         select gen_random_uuid(), o.id, plan.app_id, plan.id, 'active', now(), now(), 1
         from plan, (select id from organisations limit 1) o returning app_id as id`,
      ),
    );
    assert.equal(rows.length, 1);
    assert.deepEqual(await rank(), { popularity: 1, tiers: 2, words: 0 });
    assert.deepEqual(await tiers(), { 0: 250, 1: 1_000, 2: 310 });
  });
});
