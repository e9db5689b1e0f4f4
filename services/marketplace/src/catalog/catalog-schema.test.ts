import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { webUrlPattern } from "@ehr-marketplace/contracts";
import { createStrictAjv } from "@ehr-marketplace/service-kit/http";
import { assertPrompt, cleanUpAfter, cloneDatabase, type ServiceDatabase, withClient } from "@ehr-marketplace/test-kit";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";

describe("constraints of the catalog's schema", () => {
  const cleanUp = cleanUpAfter();
  let database: ServiceDatabase;
  before(async () => {
    database = await cloneDatabase(cleanUp, "demo");
  });
  const asOwner = (statement: string): Promise<unknown> =>
    withClient(database.ownerUrl, (client) => client.query(statement));
  const asService = (statement: string): Promise<unknown> =>
    withClient(database.serviceUrl, (client) => client.query(statement));

  test("a published plan never changes and is never deleted; it can only be retired", async () => {
    await assert.rejects(asOwner("update pricing_plans set amount = amount + 1 where amount > 0"), /never changes/);
    await assert.rejects(asOwner("delete from pricing_plans"), /never changes/);
    await assert.rejects(asOwner("update pricing_plans set retired_at = now(), name = 'x'"), /never changes/);
    await asOwner(
      "update pricing_plans set retired_at = now() where app_id = (select id from apps where slug = 'cuffline')",
    );
    await assert.rejects(asOwner("update pricing_plans set retired_at = null"), /never changes/);
  });

  for (const slug of ["ab", "Upper", "a--b", "-a", "a-", "under_score", "a".repeat(65)]) {
    test(`rejects the slug ${slug.slice(0, 20)}`, async () => {
      await assert.rejects(asOwner(`update apps set slug = '${slug}' where slug = 'cuffline'`), /apps_slug_check/);
    });
  }

  test("reserves the slugs that would hide an app behind another route", async () => {
    const { server } = await startMarketplace(cleanUp, database.serviceUrl);
    const fixed = server.routesAndAccess.flatMap(({ url }) => /^\/api\/v1\/apps\/([^/:*]+)/.exec(url)?.[1] ?? []);
    assert.ok(fixed.includes("search"));
    for (const slug of new Set(fixed)) {
      const message = `reserve the slug ${slug} by a migration: "add a route" in CONTRIBUTING.md`;
      const update = asOwner(`update apps set slug = '${slug}' where slug = 'cuffline'`);
      await assert.rejects(update, /apps_slug_check/, message);
    }
  });

  const urls = {
    accepted: [
      "https://a.example",
      "https://a.example:8443/path?query#fragment",
      "http://127.0.0.1:8080/media/a.svg",
      "http://127.8.8.8",
      "http://localhost:3000/",
      "http://[::1]:3000/launch",
      `https://a.example/${"x".repeat(2048 - 18)}`,
    ],
    refused: [
      "http://a.example/launch",
      "http://10.0.0.1/",
      "http://localhost.evil.example/",
      "http://localhost@evil.example/",
      "http://127.0.0.1.evil.example/",
      "http://127.0.0.1:80@evil.example/",
      "javascript:alert(1)",
      "data:text/html,hello",
      "//a.example/",
      "https://",
      "https:///a.example",
      "https://a.example/with a space",
      "https://a.example/\njavascript:alert(1)",
      "",
      `https://a.example/${"x".repeat(2048 - 17)}`,
    ],
  };

  test("URLs of apps and vendors are https, or http on a loopback address, and have at most 2048 characters", async () => {
    const changes = [
      "update apps set icon_url = $1",
      "update apps set smart_launch_url = $1",
      "update apps set website_url = $1",
      "update apps set support_url = $1",
      "update apps set privacy_policy_url = $1",
      "update apps set terms_url = $1",
      "update apps set screenshots = array['https://a.example/1.png', $1]",
      "update vendors set website_url = $1",
    ];
    const isWebUrl = createStrictAjv().compile({ type: "string", pattern: webUrlPattern, maxLength: 2048 });
    await withClient(database.ownerUrl, async (client) => {
      const change = async (statement: string, url: string): Promise<void> => {
        await client.query("begin");
        try {
          await client.query(`${statement} where slug in ('cuffline', 'lumen-medical')`, [url]);
        } finally {
          await client.query("rollback");
        }
      };
      for (const url of urls.accepted) {
        assert.ok(isWebUrl(url), url);
        for (const statement of changes) await change(statement, url);
      }
      for (const url of urls.refused) {
        assert.equal(isWebUrl(url), false, url);
        for (const statement of changes) await assert.rejects(change(statement, url), /_https/, `${statement}: ${url}`);
      }
      await assert.rejects(
        client.query("update apps set screenshots = array[null] where slug = 'cuffline'"),
        /screenshots_are_https/,
      );
    });
  });

  test("an extension point must be in the registry, or be a CDS Hooks hook", async () => {
    await assert.rejects(
      asOwner("update apps set extension_points = '{nowhere}' where slug = 'cuffline'"),
      /"nowhere" is not in the registry/,
    );
    await asOwner("update apps set extension_points = '{settings,cds:order-sign}' where slug = 'cuffline'");
  });

  for (const [what, columns] of [
    ["FREE with a price", "pricing_model, amount) values ('FREE', 100"],
    ["FREE without an amount", "pricing_model) values ('FREE'"],
    ["FLAT without an amount", "pricing_model, interval) values ('FLAT', 'MONTH'"],
    ["PER_UNIT without an amount", "pricing_model, interval, unit_name) values ('PER_UNIT', 'MONTH', 'seat'"],
    ["FLAT without interval", "pricing_model, amount) values ('FLAT', 100"],
    ["FLAT with a fraction of a cent", "pricing_model, amount, interval) values ('FLAT', 0.5, 'MONTH'"],
    ["PER_UNIT without a unit", "pricing_model, amount, interval) values ('PER_UNIT', 100, 'MONTH'"],
    [
      "TIERED without tiers",
      "pricing_model, interval, unit_name, tier_mode) values ('TIERED', 'MONTH', 'seat', 'VOLUME'",
    ],
    ["USAGE without a metric", "pricing_model, amount, interval) values ('USAGE', 1, 'MONTH'"],
    ["FLAT with a metric", "pricing_model, amount, interval, metric) values ('FLAT', 1, 'MONTH', 'calls'"],
  ]) {
    test(`rejects a plan that is ${what}`, async () => {
      const statement = `insert into pricing_plans (id, app_id, position, name, description, currency, ${columns},`;
      const given = statement.replace(
        /values \((.*),$/,
        "values (gen_random_uuid(), (select id from apps limit 1), 0, 'n', 'd', 'USD', $1)",
      );
      await assert.rejects(asOwner(given), /check constraint/);
    });
  }

  test("the service can read the catalog and can change neither it nor the schema", async () => {
    await asService("select count(*) from app_listings");
    for (const statement of [
      "update app_listings set popularity = 1",
      "delete from app_listings",
      "update app_popularity set category = 'FINANCIAL'",
      "insert into app_popularity select * from app_popularity",
      "delete from app_popularity",
      "update app_search set words = ''",
      "insert into search_words values ('x', 1)",
      "update search_words set word = 'x'",
      "delete from search_words",
      "select * from apps",
      "select * from pricing_plans",
      "create table x (y int)",
      "drop table app_listings",
      "alter table app_listings add column x int",
      "create index on app_listings (featured)",
      "select refresh_listings('{}')",
      "update schema_migrations set name = 'x'",
    ]) {
      await assert.rejects(asService(statement), /permission denied|must be owner/, statement);
    }
  });

  test("concurrent writers of the same apps wait for each other and never deadlock", async () => {
    const rename = (slugs: string[]): Promise<unknown> =>
      withClient(database.ownerUrl, async (client) => {
        await client.query("begin");
        for (const slug of slugs)
          await client.query("update apps set version = version || '0' where slug = $1", [slug]);
        await client.query("commit");
      });
    const both = ["inbox-heron", "lab-lantern"];
    await Promise.all(Array.from({ length: 40 }, (_, index) => rename(index % 2 === 0 ? both : both.toReversed())));
  });

  test("a change that isn't visible in the catalog doesn't invalidate caches", async () => {
    await withClient(database.ownerUrl, async (client) => {
      const heard: string[] = [];
      client.on("notification", ({ channel }) => heard.push(channel));
      await client.query("listen catalog_changed");
      await client.query("update apps set version = '9' where false");
      await client.query(`insert into apps (id, slug, vendor_id, category, status, name, summary, description, icon_url, version)
        select gen_random_uuid(), 'a-draft', id, 'FINANCIAL', 'draft', 'Draft', '', '', 'https://i.example/x', '1' from vendors limit 1`);
      await client.query("select 1");
      assert.deepEqual(heard, []);
      await client.query("update apps set version = '9' where slug = 'inbox-heron'");
      await client.query("select 1");
      assert.deepEqual(heard, ["catalog_changed"]);
    });
  });

  test("a migrated clone for a test file takes well under a second", async () => {
    await assertPrompt(1_000, () => cloneDatabase(cleanUp, "empty"));
  });
});
