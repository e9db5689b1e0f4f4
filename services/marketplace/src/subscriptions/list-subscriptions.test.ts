import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SubscriptionDto, SubscriptionPage } from "@ehr-marketplace/contracts";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { rowsRead } from "../rows-read.test-support.ts";
import { findFilteredSubscriptions } from "./subscription-list-store.ts";

/** So many that an app has more paused ones for a reason than PostgreSQL would rather sort than read in order. */
const practices = 600;
type Who = Parameters<MarketplaceWithCallers["requestAs"]>[0];

describe("lists of subscriptions over organisations", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let connected: ServiceConnection<DB>;
  let all: SubscriptionDto[];
  const vendors = new Map<string, string>();
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    connected = await connectAsService<DB>(cleanUp, marketplace.database.serviceUrl);
    const { ownerUrl } = marketplace.database;
    await registerPractices(ownerUrl, { count: practices, callbackUrl: "https://ehr.example" });
    all = await withClient(ownerUrl, async (client) => {
      // Every practice to every app. Groups of nine have the same time, so that their order depends on their ids.
      await client.query(
        `insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, pause_reason, paused_at,
           cancelled_at, created_at, updated_at, revision)
         select gen_random_uuid(), o.id, a.id, (select id from pricing_plans p where p.app_id = a.id limit 1),
           made.status, made.reason, case made.status when 'paused' then made.at end,
           case made.status when 'cancelled' then made.at end, made.at, made.at, 1
         from (select id, row_number() over (order by id) as nth from organisations where alias like 'practice-%') o
         cross join (select id, row_number() over (order by id) as nth from apps) a
         cross join lateral (
           select (array['active', 'active', 'paused', 'cancelled', 'cancelled'])[1 + (o.nth + a.nth) % 5] as status,
             case when (o.nth + a.nth) % 5 = 2 then (array['SECURITY', 'NON_PAYMENT'])[1 + o.nth % 2] end as reason,
             '2026-01-01'::timestamptz + (o.nth * 60 + a.nth) / 9 * interval '1 s' as at
         ) made`,
      );
      await client.query("analyze subscriptions");
      const { rows } = await client.query<{ slug: string; vendor: string; wire: SubscriptionDto }>(
        `select a.slug, v.slug as vendor, json_build_object('id', s.id, 'appSlug', a.slug, 'orgAlias', o.alias,
             'status', s.status, 'pauseReason', s.pause_reason, 'createdAt', wire_instant(s.created_at)) as wire
         from subscriptions s join organisations o on o.id = s.organisation_id
         join apps a on a.id = s.app_id join vendors v on v.id = a.vendor_id`,
      );
      for (const { slug, vendor } of rows) vendors.set(slug, vendor);
      return rows.map(({ wire }) => wire);
    });
    all.sort((a, b) => (`${a.createdAt} ${a.id}` < `${b.createdAt} ${b.id}` ? 1 : -1));
  });

  const walk = async (who: Who, path: string, search: string, headers = {}): Promise<SubscriptionDto[]> => {
    const found: SubscriptionDto[] = [];
    for (let next: string | null = ""; next !== null; ) {
      const query = `limit=700&${search}${next === "" ? "" : `&after=${next}`}`;
      const response = await marketplace.requestAs(who, `${path}?${query}`, { headers });
      assert.equal(response.status, 200, await response.clone().text());
      const page = (await response.json()) as SubscriptionPage;
      assert.deepEqual(Object.keys(page), ["items", "next"]);
      assert.ok(page.items.length <= 700);
      found.push(...page.items);
      next = page.next;
    }
    return found;
  };
  const ids = (subscriptions: SubscriptionDto[]): string[] => subscriptions.map(({ id }) => id);
  const northwinds = (): SubscriptionDto[] => all.filter(({ appSlug }) => vendors.get(appSlug) === "northwind-health");

  describe("GET /developer/subscriptions", () => {
    const path = "/developer/subscriptions";
    test("returns the subscriptions to the vendor's apps and no others, newest first, each once", async () => {
      const found = await walk("northwind-developer", path, "");
      assert.deepEqual(ids(found), ids(northwinds()));
      assert.ok(found.length > 400);
      for (const each of found.slice(0, 20)) assertShape("SubscriptionDto", each);
      const named = await walk("operator", path, "", { "x-vendor-slug": "northwind-health" });
      assert.deepEqual(named, found);
    });

    test("filters by appSlug and status, alone and combined", async () => {
      for (const status of ["active", "paused", "cancelled"]) {
        const expected = northwinds().filter((each) => each.status === status);
        assert.deepEqual(ids(await walk("northwind-developer", path, `status=${status}`)), ids(expected));
        const scribe = expected.filter(({ appSlug }) => appSlug === "northwind-scribe");
        assert.ok(scribe.length > 0);
        const both = `status=${status}&appSlug=northwind-scribe`;
        assert.deepEqual(ids(await walk("northwind-developer", path, both)), ids(scribe));
      }
    });

    test("returns nothing for another vendor's app and for an unknown one", async () => {
      for (const slug of ["lumen-schedule", "no-such-app", "'; drop table subscriptions; --"]) {
        assert.deepEqual(await walk("northwind-developer", path, `appSlug=${encodeURIComponent(slug)}`), []);
      }
    });

    test("returns 400 for an unknown status and for a cursor of another list", async () => {
      for (const search of ["status=ACTIVE", "after=abc", "limit=0"]) {
        await assertProblem(
          await marketplace.requestAs("northwind-developer", `${path}?${search}`),
          400,
          "invalid-request",
        );
      }
    });
  });

  describe("GET /admin/subscriptions", () => {
    const path = "/admin/subscriptions";
    const filters: [string, (each: SubscriptionDto) => boolean][] = [
      ["", () => true],
      ["status=paused", ({ status }) => status === "paused"],
      ["pauseReason=SECURITY", ({ pauseReason }) => pauseReason === "SECURITY"],
      ["pauseReason=SECURITY&status=cancelled", () => false],
      ["orgAlias=practice-7", ({ orgAlias }) => orgAlias === "practice-7"],
      ["appSlug=lumen-schedule", ({ appSlug }) => appSlug === "lumen-schedule"],
      ["vendor=northwind-health", ({ appSlug }) => vendors.get(appSlug) === "northwind-health"],
      [
        "vendor=northwind-health&orgAlias=practice-7&status=active",
        ({ appSlug, orgAlias, status }) =>
          vendors.get(appSlug) === "northwind-health" && orgAlias === "practice-7" && status === "active",
      ],
      [
        "vendor=northwind-health&pauseReason=NON_PAYMENT",
        ({ appSlug, pauseReason }) => vendors.get(appSlug) === "northwind-health" && pauseReason === "NON_PAYMENT",
      ],
      ["vendor=northwind-health&appSlug=lumen-schedule", () => false],
      ["vendor=nobody", () => false],
      [
        "appSlug=lumen-schedule&orgAlias=practice-7",
        ({ appSlug, orgAlias }) => appSlug === "lumen-schedule" && orgAlias === "practice-7",
      ],
      ["orgAlias=nobody", () => false],
    ];
    for (const [search, holds] of filters) {
      test(`${search === "" ? "without a filter" : search}: returns the matching subscriptions, newest first`, async () => {
        assert.deepEqual(ids(await walk("billing", path, search)), ids(all.filter(holds)));
      });
    }
  });

  test("a page reads no more rows of each app and status than it returns, under a generic plan", async () => {
    const cursor = { at: "2026-01-01T00:05:00.000Z", id: "ffffffff-ffff-7fff-bfff-ffffffffffff" };
    // Fewer than an app has in any status or for any reason.
    const limit = 10;
    const statuses = ["active", "paused", "cancelled"];
    const northwindApps = new Set(northwinds().map(({ appSlug }) => appSlug)).size;
    for (const after of [undefined, cursor]) {
      for (const [filter, ranges] of [
        [{ vendor: "northwind-health" }, 3 * northwindApps],
        [{ vendor: "northwind-health", appSlug: "northwind-scribe" }, 3],
        [{}, 3],
        [{ pauseReason: "SECURITY" }, 1],
        [{ appSlug: "northwind-scribe", pauseReason: "SECURITY" }, 1],
        [{ vendor: "northwind-health", pauseReason: "SECURITY" }, northwindApps],
      ] as const) {
        const possible = "pauseReason" in filter ? ["paused"] : statuses;
        const read = await rowsRead(connected, (database) =>
          findFilteredSubscriptions(database, { ...filter, statuses: possible }, { after, limit }),
        );
        // The rows of the page are read once more, with organisation, app and plan.
        const most = ranges * (limit + 1) + 5 * limit + 60;
        assert.ok(read <= most, `${JSON.stringify(filter)} reads ${read}, and may read ${most} of ${all.length}`);
      }
      // The 60 subscriptions of an organisation are read and then filtered.
      for (const other of [
        {},
        { appSlug: "northwind-scribe" },
        { vendor: "northwind-health" },
        { pauseReason: "SECURITY" },
      ]) {
        const filter = { orgAlias: "practice-7", ...other, statuses };
        const read = await rowsRead(connected, (database) =>
          findFilteredSubscriptions(database, filter, { after, limit }),
        );
        assert.ok(read <= 300, `${JSON.stringify(filter)} reads ${read} of ${all.length}`);
      }
    }
  });
});
