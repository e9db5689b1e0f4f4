import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  epochHeader,
  type ListedSubscriptionDto,
  type MarketplaceEpoch,
  parseEpoch,
  type SubscriptionDto,
  type SubscriptionEvent,
} from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import { sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { findEpoch } from "./epoch-store.ts";
import { subscribed } from "./subscribe.test-support.ts";

type Persona = Parameters<MarketplaceWithCallers["requestAs"]>[0];
const missing = "01890a5d-ac96-774b-bcce-b302099a8057";
const many = 2_500;

describe("reading subscriptions", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    for (const alias of ["crowded", "empty", "expanded"]) {
      const registered = await marketplace.requestAs("operator", `/admin/organisations/${alias}`, {
        method: "PUT",
        body: { displayName: alias },
      });
      assert.equal(registered.status, 201);
    }
    // Groups of seven have the same time, so that their order depends on their ids.
    await withClient(marketplace.database.ownerUrl, (client) =>
      client.query(
        `insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, cancelled_at, created_at, updated_at, revision)
         select gen_random_uuid(), organisations.id, plan.app_id, plan.id,
           case when n = 0 then 'active' else 'cancelled' end, case when n = 0 then null else now() end,
           '2026-01-01'::timestamptz + n / 7 * interval '1 ms', now(), 1
         from organisations, generate_series(0, $1::int - 1) as n,
           (select id, app_id from pricing_plans where retired_at is null limit 1) as plan
         where alias = 'crowded'`,
        [many],
      ),
    );
  });
  const list = (who: Persona, query: string): Promise<Response> =>
    marketplace.requestAs(who, `/subscriptions?${query}`);
  const listed = async (who: Persona, query: string): Promise<SubscriptionDto[]> => {
    const response = await list(who, query);
    assert.equal(response.status, 200, await response.clone().text());
    const records = (await response.json()) as SubscriptionDto[];
    for (const record of records) assertShape("SubscriptionDto", record);
    return records;
  };
  const nextOf = (response: Response): string | undefined => {
    const link = response.headers.get("link");
    if (link === null) return undefined;
    assert.match(link, /^<\/api\/v1\/subscriptions\?[^>]+>; rel="next"$/);
    return link.slice("</api/v1/subscriptions?".length, link.indexOf(">"));
  };
  const walk = async (first: string): Promise<SubscriptionDto[][]> => {
    const pages: SubscriptionDto[][] = [];
    for (let query: string | undefined = first; query !== undefined; ) {
      const response = await list("operator", query);
      assert.equal(response.status, 200, await response.clone().text());
      pages.push((await response.json()) as SubscriptionDto[]);
      query = nextOf(response);
    }
    return pages;
  };
  const sizes = (pages: unknown[][]): number[] => pages.map((page) => page.length);
  const assertNewestFirstAndOnce = (all: SubscriptionDto[]): void => {
    assert.equal(new Set(all.map(({ id }) => id)).size, all.length);
    const places = all.map(({ createdAt, id }) => `${createdAt} ${id}`);
    assert.deepEqual(places, places.toSorted().toReversed());
  };

  test("returns an array, newest first, filtered by status", async () => {
    const records = [];
    for (const slug of ["lumen-schedule", "northwind-scribe", "inbox-heron"]) {
      records.unshift(await subscribed(marketplace, slug));
    }
    const [newest, middle, oldest] = records;
    const cancel = await marketplace.requestAs("operator", `/subscriptions/${middle?.id}/cancel`, { method: "POST" });
    const cancelled = (await cancel.json()) as SubscriptionDto;
    const pause = { body: { reason: "SECURITY" } };
    const paused = (await (
      await marketplace.requestAs("operator", `/subscriptions/${oldest?.id}/pause`, pause)
    ).json()) as SubscriptionDto;
    const query = "orgAlias=riverside-clinic";
    assert.deepEqual(await listed("riverside-member", query), [newest, cancelled, paused]);
    assert.deepEqual(await listed("riverside-member", `${query}&status=active`), [newest]);
    assert.deepEqual(await listed("riverside-member", `${query}&status=cancelled`), [cancelled]);
    assert.deepEqual(await listed("riverside-member", `${query}&status=paused`), [paused]);
    assert.deepEqual(await listed("riverside-member", `${query}&after=${newest?.id}&status=paused`), [paused]);
    assert.deepEqual(await listed("riverside-member", `${query}&limit=1&unknown=ignored`), [newest]);
    assert.deepEqual(await listed("operator", "orgAlias=empty"), []);
    assert.deepEqual(await listed("operator", "orgAlias=nobody"), []);
  });

  test("expand=app adds the event's app object to each, also for an unpublished app, and says whether it is still offered", async () => {
    const orgAlias = "expanded";
    const ids: string[] = [];
    for (const slug of ["quiet-room", "refill-robin"])
      ids.unshift((await subscribed(marketplace, slug, { by: "operator", orgAlias })).id);
    const sent = await withClient(marketplace.database.ownerUrl, async (client) => {
      await client.query("update apps set status = 'withdrawn' where slug = 'refill-robin'");
      const { rows } = await client.query<{ payload: string }>(
        "select payload from events where subscription_id = any($1) order by array_position($1, subscription_id)",
        [ids],
      );
      return rows.map(({ payload }) => (JSON.parse(payload) as SubscriptionEvent).app);
    });
    const response = await list("operator", `orgAlias=${orgAlias}&expand=app`);
    const expanded = (await response.json()) as ListedSubscriptionDto[];
    for (const record of expanded) assertShape("ListedSubscriptionDto", record);
    assert.deepEqual(
      expanded.map(({ app }) => app),
      sent,
    );
    assert.deepEqual(
      expanded.map(({ isOffered }) => isOffered),
      [false, true],
    );
    assert.deepEqual(
      expanded.map(({ app: _app, isOffered: _isOffered, ...record }) => record),
      await listed("operator", `orgAlias=${orgAlias}`),
    );
    const next = nextOf(await list("operator", `orgAlias=${orgAlias}&expand=app&limit=1`));
    assert.match(next ?? "", /expand=app/, "the next page is expanded as well");
    await assertProblem(await list("operator", `orgAlias=${orgAlias}&expand=plan`), 400, "invalid-request");
  });

  test("returns 1,000 without a limit; following Link returns every subscription once", async () => {
    const pages = await walk("orgAlias=crowded");
    assert.deepEqual(sizes(pages), [1_000, 1_000, 500]);
    assert.equal(pages.flat().length, many);
    assertNewestFirstAndOnce(pages.flat());
    assert.equal(pages.flat().at(-1)?.createdAt, "2026-01-01T00:00:00.000Z");
  });

  test("Link keeps the limit; a limit above 1,000 is 1,000; the last page has no Link, even if it is full", async () => {
    const pages = await walk("orgAlias=crowded&limit=500");
    assert.deepEqual(sizes(pages), [500, 500, 500, 500, 500]);
    assertNewestFirstAndOnce(pages.flat());
    assert.deepEqual(sizes(await walk("limit=99999999999999999999&orgAlias=crowded")), [1_000, 1_000, 500]);
  });

  test("a list names its epoch: its position only grows, and a copy of the database is another system", async () => {
    const read = async (): Promise<MarketplaceEpoch> =>
      parseEpoch((await list("operator", "orgAlias=empty")).headers.get(epochHeader)) ?? assert.fail("it has none");
    const first = await read();
    await marketplace.requestAs("operator", "/admin/organisations/empty", {
      method: "PUT",
      body: { displayName: "Written" },
    });
    const later = await read();
    assert.deepEqual([later.system, later.timeline], [first.system, first.timeline]);
    assert.ok(later.position >= first.position);
    const copied = await connectAsService<DB>(cleanUp, (await cloneDatabase(cleanUp, "demo")).serviceUrl);
    assert.notEqual((await findEpoch(copied.database))?.system, first.system);
  });

  test("Link keeps the other query parameters", async () => {
    const cancelled = await walk("status=cancelled&limit=833&orgAlias=crowded");
    assert.deepEqual(sizes(cancelled), [833, 833, 833]);
    assert.ok(cancelled.flat().every(({ status }) => status === "cancelled"));
    assert.deepEqual(sizes(await walk("why=%3E%3C%22?not&orgAlias=crowded")), [1_000, 1_000, 500]);
    const next = nextOf(await list("operator", "orgAlias=crowded&x=1&y=a%26b&x=2"));
    assert.deepEqual([...new URLSearchParams(next)].slice(0, 4), [
      ["orgAlias", "crowded"],
      ["x", "1"],
      ["y", "a&b"],
      ["x", "2"],
    ]);
  });

  for (const [what, query] of [
    ["no orgAlias", ""],
    ["two of them", "orgAlias=crowded&orgAlias=empty"],
    ["an unknown status", "orgAlias=crowded&status=gone"],
    ["an organisation without a name", "orgAlias="],
    ["a limit of 0", "orgAlias=crowded&limit=0"],
    ["a negative limit", "orgAlias=crowded&limit=-1"],
    ["a limit that is not a number", "orgAlias=crowded&limit=ten"],
    ["an after that is not an id", "orgAlias=crowded&after=1"],
    ["an unknown after", `orgAlias=crowded&after=${missing}`],
    ["an after for an organisation without any", `orgAlias=empty&after=${missing}`],
    ["an after in another spelling", `orgAlias=crowded&after=urn:uuid:${missing}`],
    ["a NUL", "orgAlias=crowded%00"],
  ] as const) {
    test(`400: ${what}`, async () => {
      await assertProblem(await list("operator", query), 400, "invalid-request");
    });
  }

  test("returns the same 400 for an after of another organisation as for an unknown one", async () => {
    const hilltop = { by: "hilltop-admin", orgAlias: "hilltop-family-practice" } as const;
    const { id } = await subscribed(marketplace, "loose-ends", hilltop);
    const details = [];
    for (const after of [id, missing]) {
      const response = await list("riverside-admin", `orgAlias=riverside-clinic&after=${after}`);
      details.push((await assertProblem(response, 400, "invalid-request"))["detail"]);
    }
    assert.equal(details[0], details[1]);
  });

  test("returns the same 403 for another organisation whether or not it exists", async () => {
    for (const who of ["riverside-admin", "riverside-member", "ehr-service"] as const) {
      const details = [];
      for (const alias of ["crowded", "nobody", "__proto__", "%20x"]) {
        const { detail } = await assertProblem(await list(who, `orgAlias=${alias}`), 403, "forbidden");
        details.push(String(detail).replace(JSON.stringify(decodeURIComponent(alias)), "it"));
      }
      assert.equal(new Set(details).size, 1);
    }
    for (const who of ["billing", "northwind-developer", "launch-redeemer"] as const) {
      await assertProblem(await list(who, "orgAlias=riverside-clinic"), 403, "forbidden");
    }
    await assertProblem(await list(null, "orgAlias=riverside-clinic"), 401, "unauthorized");
  });

  test("the EHR reads the subscriptions of its organisations", async () => {
    const riverside = await subscribed(marketplace, "quiet-room");
    const hilltop = { by: "hilltop-admin", orgAlias: "hilltop-family-practice" } as const;
    for (const record of [riverside, await subscribed(marketplace, "quiet-room", hilltop)]) {
      const found = await marketplace.requestAs("ehr-service", `/subscriptions/${record.id}`);
      assert.deepEqual(await found.json(), record);
      assert.ok((await listed("ehr-service", `orgAlias=${record.orgAlias}`)).some(({ id }) => id === record.id));
    }
    const [other] = await listed("operator", "orgAlias=crowded&limit=1");
    const response = await marketplace.requestAs("ehr-service", `/subscriptions/${other?.id}`);
    await assertProblem(response, 404, "subscription-not-found");
  });

  test("returns the same 404 for another organisation's subscription as for an unknown id", async () => {
    const { id } = await subscribed(marketplace, "northwind-visits");
    const details = [];
    for (const [who, requestedId] of [
      ["hilltop-admin", id],
      ["lumen-developer", id],
      ["hilltop-admin", missing],
      ["lumen-developer", missing],
      ["operator", missing],
    ] as const) {
      const response = await marketplace.requestAs(who, `/subscriptions/${requestedId}`);
      details.push((await assertProblem(response, 404, "subscription-not-found"))["detail"]);
    }
    assert.equal(new Set(details).size, 1);
    for (const who of ["two-practices", "operator", "billing", "auditor"] as const) {
      assert.equal((await marketplace.requestAs(who, `/subscriptions/${id}`)).status, 200);
    }
    await assertProblem(await marketplace.requestAs("launch-redeemer", `/subscriptions/${id}`), 403, "forbidden");
    await assertProblem(await marketplace.requestAs("operator", "/subscriptions/1"), 400, "invalid-request");
    assert.ok([400, 404].includes((await marketplace.requestAs("operator", `/subscriptions/urn:uuid:${id}`)).status));
  });

  test("a developer reads the subscriptions to the vendor's apps; with two vendors, X-Vendor-Slug is required", async () => {
    const northwind = await subscribed(marketplace, "northwind-watch");
    const lumen = await subscribed(marketplace, "lumen-reminders");
    const own = await marketplace.requestAs("northwind-developer", `/subscriptions/${northwind.id}`);
    assert.deepEqual(await own.json(), northwind);
    const other = await marketplace.requestAs("northwind-developer", `/subscriptions/${lumen.id}`);
    await assertProblem(other, 404, "subscription-not-found");
    const token = await signToken(marketplace.callers, {
      sub: "of-two-vendors",
      roles: ["vendor-developer"],
      vendor: ["northwind-health", "lumen-medical"],
    });
    const get = (id: string, vendor?: string): Promise<Response> =>
      sendApiRequest(
        marketplace.url,
        `/subscriptions/${id}`,
        token,
        vendor === undefined ? {} : { headers: { "x-vendor-slug": vendor } },
      );
    assert.equal((await get(lumen.id, "lumen-medical")).status, 200);
    await assertProblem(await get(lumen.id, "northwind-health"), 404, "subscription-not-found");
    for (const id of [lumen.id, missing]) {
      await assertProblem(await get(id), 400, "invalid-request");
      await assertProblem(await get(id, "copperfinch"), 403, "forbidden");
    }
  });
});
