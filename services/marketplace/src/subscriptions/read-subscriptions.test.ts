import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { ListedSubscriptionDto, SubscriptionDto, SubscriptionEvent } from "@ehr-marketplace/contracts";
import { withClient } from "@ehr-marketplace/dev/postgres";
import {
  ask,
  assertProblem,
  assertShape,
  cleanUpAfter,
  type PeopledMarketplace,
  signedToken,
  startPeopledMarketplace,
} from "@ehr-marketplace/tests/support";
import { subscribed } from "./subscribe.test-support.ts";

type Persona = Parameters<PeopledMarketplace["as"]>[0];
const missing = "01890a5d-ac96-774b-bcce-b302099a8057";
const many = 2_500;

describe("reading subscriptions", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: PeopledMarketplace;
  before(async () => {
    marketplace = await startPeopledMarketplace(cleanUp);
    for (const alias of ["crowded", "empty", "expanded"]) {
      const registered = await marketplace.as("operator", `/admin/organisations/${alias}`, {
        method: "PUT",
        body: { displayName: alias },
      });
      assert.equal(registered.status, 201);
    }
    // Seven at a time have the same time, so that only their ids put them in order.
    await withClient(marketplace.database.ownerUrl, (client) =>
      client.query(
        `insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, cancelled_at, created_at, updated_at, revision)
         select gen_random_uuid(), organisations.id, plan.app_id, plan.id,
           case when place = 0 then 'active' else 'cancelled' end, case when place = 0 then null else now() end,
           '2026-01-01'::timestamptz + place / 7 * interval '1 ms', now(), 1
         from organisations, generate_series(0, $1::int - 1) as place,
           (select id, app_id from pricing_plans where retired_at is null limit 1) as plan
         where alias = 'crowded'`,
        [many],
      ),
    );
  });
  const list = (who: Persona, query: string): Promise<Response> => marketplace.as(who, `/subscriptions?${query}`);
  const listed = async (who: Persona, query: string): Promise<SubscriptionDto[]> => {
    const answer = await list(who, query);
    assert.equal(answer.status, 200, await answer.clone().text());
    const records = (await answer.json()) as SubscriptionDto[];
    for (const record of records) assertShape("SubscriptionDto", record);
    return records;
  };
  const nextOf = (answer: Response): string | undefined => {
    const link = answer.headers.get("link");
    if (link === null) return undefined;
    assert.match(link, /^<\/api\/v1\/subscriptions\?[^>]+>; rel="next"$/);
    return link.slice("</api/v1/subscriptions?".length, link.indexOf(">"));
  };
  const walk = async (first: string): Promise<SubscriptionDto[][]> => {
    const pages: SubscriptionDto[][] = [];
    for (let query: string | undefined = first; query !== undefined; ) {
      const answer = await list("operator", query);
      assert.equal(answer.status, 200, await answer.clone().text());
      pages.push((await answer.json()) as SubscriptionDto[]);
      query = nextOf(answer);
    }
    return pages;
  };
  const sizes = (pages: unknown[][]): number[] => pages.map((page) => page.length);
  const assertNewestFirstAndOnce = (all: SubscriptionDto[]): void => {
    assert.equal(new Set(all.map(({ id }) => id)).size, all.length);
    const places = all.map(({ createdAt, id }) => `${createdAt} ${id}`);
    assert.deepEqual(places, places.toSorted().toReversed());
  };

  test("an organisation's list is an array, the newest first; with a status, only those", async () => {
    const records = [];
    for (const slug of ["lumen-schedule", "northwind-scribe", "inbox-heron"]) {
      records.unshift(await subscribed(marketplace, slug));
    }
    const [newest, middle, oldest] = records;
    const cancel = await marketplace.as("operator", `/subscriptions/${middle?.id}/cancel`, { method: "POST" });
    const cancelled = (await cancel.json()) as SubscriptionDto;
    const pause = { body: { reason: "SECURITY" } };
    const paused = (await (
      await marketplace.as("operator", `/subscriptions/${oldest?.id}/pause`, pause)
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

  test("with expand=app each has the event's app object, also for an unpublished app; without it nothing changes", async () => {
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
    const answer = await list("operator", `orgAlias=${orgAlias}&expand=app`);
    const expanded = (await answer.json()) as ListedSubscriptionDto[];
    for (const record of expanded) assertShape("ListedSubscriptionDto", record);
    assert.deepEqual(
      expanded.map(({ app }) => app),
      sent,
    );
    assert.deepEqual(
      expanded.map(({ app: _app, ...record }) => record),
      await listed("operator", `orgAlias=${orgAlias}`),
    );
    const next = nextOf(await list("operator", `orgAlias=${orgAlias}&expand=app&limit=1`));
    assert.match(next ?? "", /expand=app/, "the next page is expanded as well");
    await assertProblem(await list("operator", `orgAlias=${orgAlias}&expand=plan`), 400, "invalid-request");
  });

  test("without a limit 1,000 come, and Link leads to the end: every subscription once", async () => {
    const pages = await walk("orgAlias=crowded");
    assert.deepEqual(sizes(pages), [1_000, 1_000, 500]);
    assert.equal(pages.flat().length, many);
    assertNewestFirstAndOnce(pages.flat());
    assert.equal(pages.flat().at(-1)?.createdAt, "2026-01-01T00:00:00.000Z");
  });

  test("a limit is kept from page to page, and above 1,000 is 1,000; the last full page has no Link", async () => {
    const pages = await walk("orgAlias=crowded&limit=500");
    assert.deepEqual(sizes(pages), [500, 500, 500, 500, 500]);
    assertNewestFirstAndOnce(pages.flat());
    assert.deepEqual(sizes(await walk("limit=99999999999999999999&orgAlias=crowded")), [1_000, 1_000, 500]);
  });

  test("Link keeps the rest of the query, whatever stands in it", async () => {
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
    ["a limit that is no number", "orgAlias=crowded&limit=ten"],
    ["an after that is no id", "orgAlias=crowded&after=1"],
    ["an after that nobody has", `orgAlias=crowded&after=${missing}`],
    ["an after for an organisation without any", `orgAlias=empty&after=${missing}`],
    ["an after in another spelling", `orgAlias=crowded&after=urn:uuid:${missing}`],
    ["a NUL", "orgAlias=crowded%00"],
  ] as const) {
    test(`400: ${what}`, async () => {
      await assertProblem(await list("operator", query), 400, "invalid-request");
    });
  }

  test("400: going on after another organisation's subscription, which tells nothing about it", async () => {
    const hilltop = { by: "hilltop-admin", orgAlias: "hilltop-family-practice" } as const;
    const { id } = await subscribed(marketplace, "loose-ends", hilltop);
    const details = [];
    for (const after of [id, missing]) {
      const answer = await list("riverside-admin", `orgAlias=riverside-clinic&after=${after}`);
      details.push((await assertProblem(answer, 400, "invalid-request"))["detail"]);
    }
    assert.equal(details[0], details[1]);
  });

  test("403 in the same words for an organisation that isn't yours, whether or not it exists", async () => {
    for (const who of ["riverside-admin", "riverside-member", "ehr-service"] as const) {
      const details = [];
      for (const alias of ["crowded", "nobody", "__proto__", "%20x"]) {
        details.push((await assertProblem(await list(who, `orgAlias=${alias}`), 403, "forbidden"))["detail"]);
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
      const found = await marketplace.as("ehr-service", `/subscriptions/${record.id}`);
      assert.deepEqual(await found.json(), record);
      assert.ok((await listed("ehr-service", `orgAlias=${record.orgAlias}`)).some(({ id }) => id === record.id));
    }
    const [other] = await listed("operator", "orgAlias=crowded&limit=1");
    const answer = await marketplace.as("ehr-service", `/subscriptions/${other?.id}`);
    await assertProblem(answer, 404, "subscription-not-found");
  });

  test("an id that isn't yours is 404, in the same words as one that nobody has", async () => {
    const { id } = await subscribed(marketplace, "northwind-visits");
    const details = [];
    for (const [who, asked] of [
      ["hilltop-admin", id],
      ["lumen-developer", id],
      ["hilltop-admin", missing],
      ["lumen-developer", missing],
      ["operator", missing],
    ] as const) {
      const answer = await marketplace.as(who, `/subscriptions/${asked}`);
      details.push((await assertProblem(answer, 404, "subscription-not-found"))["detail"]);
    }
    assert.equal(new Set(details).size, 1);
    for (const who of ["two-practices", "operator"] as const) {
      assert.equal((await marketplace.as(who, `/subscriptions/${id}`)).status, 200);
    }
    for (const who of ["billing", "launch-redeemer"] as const) {
      await assertProblem(await marketplace.as(who, `/subscriptions/${id}`), 403, "forbidden");
    }
    await assertProblem(await marketplace.as("operator", "/subscriptions/1"), 400, "invalid-request");
    assert.ok([400, 404].includes((await marketplace.as("operator", `/subscriptions/urn:uuid:${id}`)).status));
  });

  test("a vendor's developer reads the subscriptions to the vendor's apps, and names the vendor where there are two", async () => {
    const northwind = await subscribed(marketplace, "northwind-watch");
    const lumen = await subscribed(marketplace, "lumen-reminders");
    const own = await marketplace.as("northwind-developer", `/subscriptions/${northwind.id}`);
    assert.deepEqual(await own.json(), northwind);
    const other = await marketplace.as("northwind-developer", `/subscriptions/${lumen.id}`);
    await assertProblem(other, 404, "subscription-not-found");
    const token = await signedToken(marketplace.callers, {
      sub: "of-two-vendors",
      roles: ["vendor-developer"],
      vendor: ["northwind-health", "lumen-medical"],
    });
    const get = (id: string, vendor?: string): Promise<Response> =>
      ask(
        marketplace.url,
        `/subscriptions/${id}`,
        token,
        vendor === undefined ? {} : { headers: { "x-vendor-slug": vendor } },
      );
    assert.equal((await get(lumen.id, "lumen-medical")).status, 200);
    await assertProblem(await get(lumen.id, "northwind-health"), 404, "subscription-not-found");
    for (const id of [lumen.id, missing]) {
      await assertProblem(await get(id), 403, "forbidden");
      await assertProblem(await get(id, "copperfinch"), 403, "forbidden");
    }
  });
});
