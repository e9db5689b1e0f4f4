import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type { UsageDto, UsageRecord, UsageReportedEvent, UsageResults } from "@ehr-marketplace/contracts";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { subscribed } from "../subscriptions/subscribe.test-support.ts";

const app = "northwind-scribe";

describe("usage of a subscription", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let endpoint: string;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp, {
      VENDOR_ALLOWED_NETWORKS: "127.0.0.0/8",
    });
    const body = { url: "http://127.0.0.1:9/hooks", secret: "a secret of sixteen", events: ["usage.reported"] };
    const registered = await marketplace.requestAs("northwind-developer", "/developer/webhooks", { body });
    endpoint = ((await registered.json()) as { id: string }).id;
  });

  const query = <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  const json = async <T>(response: Response | Promise<Response>, status = 200): Promise<T> => {
    const settled = await response;
    assert.equal(settled.status, status, await settled.clone().text());
    return (await settled.json()) as T;
  };
  const subscribe = async (model = "USAGE"): Promise<string> => {
    for (const { id } of await json<{ id: string }[]>(
      marketplace.requestAs("operator", "/subscriptions?orgAlias=riverside-clinic&status=active"),
    )) {
      await json(marketplace.requestAs("operator", `/subscriptions/${id}/cancel`, { method: "POST" }));
    }
    // What is used costs nothing that matters here.
    const more = { spendLimit: { amount: Number.MAX_SAFE_INTEGER, onReached: "notify" } };
    return (await subscribed(marketplace, app, { by: "operator", model, more })).id;
  };
  const record = (given: Partial<UsageRecord> = {}): UsageRecord => ({
    id: randomUUID(),
    metric: "notes",
    quantity: 1,
    occurredAt: new Date().toISOString(),
    ...given,
  });
  const report = (
    id: string,
    records: unknown[],
    persona: "northwind-developer" | "operator" = "northwind-developer",
  ) => marketplace.requestAs(persona, `/subscriptions/${id}/usage`, { body: { records } });
  const read = (id: string, search = "", persona: Parameters<typeof marketplace.requestAs>[0] = "riverside-member") =>
    json<UsageDto>(marketplace.requestAs(persona, `/subscriptions/${id}/usage${search}`));
  const eventsOf = (id: string): Promise<{ payload: string; recipient_id: string }[]> =>
    query(
      `select payload, recipient_id from events join deliveries on deliveries.event_id = events.id
       where events.subscription_id = $1 and event = 'usage.reported' order by occurred_at`,
      id,
    );

  test("is counted, told to the vendor's endpoints, and read by hour, day and month; it says who sent it with which request", async () => {
    const id = await subscribe();
    const records = [record({ quantity: 2 }), record({ quantity: "0.5" })];
    const response = await report(id, records);
    const results = await json<UsageResults>(Promise.resolve(response));
    assertShape("UsageResults", results);
    assert.deepEqual(
      results.results,
      records.map((each) => ({ id: each.id, status: "accepted", reason: null })),
    );
    for (const granularity of ["hour", "day", "month"]) {
      const usage = await read(id, `?granularity=${granularity}`);
      assertShape("UsageDto", usage);
      assert.deepEqual(
        usage.items.map(({ metric, aggregation, quantity }) => [metric, aggregation, quantity]),
        [["notes", "SUM", "2.5"]],
        granularity,
      );
    }
    const [delivery, ...others] = await eventsOf(id);
    assert.deepEqual([delivery?.recipient_id, others], [endpoint, []]);
    const event = JSON.parse(delivery?.payload ?? "") as UsageReportedEvent;
    assertShape("UsageReportedEvent", event);
    const times = records.map(({ occurredAt }) => occurredAt).toSorted();
    assert.deepEqual(event.usage, [{ metric: "notes", quantity: "2.5", from: times[0], to: times[1], recordCount: 2 }]);
    const stored = await query<{ request_id: string; caller_subject: string }>(
      "select distinct request_id, caller_subject from usage_records where subscription_id = $1",
      id,
    );
    assert.deepEqual(stored, [
      { request_id: response.headers.get("x-request-id"), caller_subject: "northwind-developer" },
    ]);
    assert.deepEqual(await query("select from audit_entries where request_id = $1", stored[0]?.request_id), []);
  });

  test("is counted once, however often it is sent, and without another event", async () => {
    const id = await subscribe();
    const records = [record(), record({ quantity: 4 })];
    await json(report(id, records));
    const repeated = await json<UsageResults>(
      report(id, [...records, record({ id: records[0]?.id ?? "", quantity: 9 })]),
    );
    assert.deepEqual(
      repeated.results.map(({ status }) => status),
      ["duplicate", "duplicate", "rejected"],
    );
    assert.equal((await read(id)).items[0]?.quantity, "5");
    assert.equal((await eventsOf(id)).length, 1);
  });

  test("is taken back by a void, and its id stays used", async () => {
    const id = await subscribe();
    const [kept, taken] = [record({ quantity: 3 }), record({ quantity: 4 })];
    await json(report(id, [kept, taken]));
    const voiding = { id: taken.id, occurredAt: taken.occurredAt, void: true };
    const { results } = await json<UsageResults>(report(id, [voiding, taken, voiding]));
    assert.deepEqual(
      results.map(({ status }) => status),
      ["accepted", "rejected", "duplicate"],
    );
    assert.equal((await read(id)).items[0]?.quantity, "3");
    assert.equal((await eventsOf(id)).length, 1, "nothing was counted");
    await json(report(id, [{ id: kept.id, occurredAt: kept.occurredAt, void: true }]));
    assert.deepEqual((await read(id)).items, []);
    const [unknown] = await query<{ count: number }>(
      "select count(*)::int as count from usage_records where subscription_id = $1 and (voided_at >= reported_at and void_subject = 'northwind-developer') is not true",
      id,
    );
    assert.equal(unknown?.count, 0, "who took each back, and when, is known");
    await withClient(marketplace.database.serviceUrl, async (client) => {
      const where = `subscription_id = '${id}'`;
      for (const change of ["voided = false", "voided_at = now()"])
        await assert.rejects(client.query(`update usage_records set ${change} where ${where}`), /is voided once/);
      await assert.rejects(client.query(`update usage_records set quantity = 0 where ${where}`), /permission denied/);
      await assert.rejects(client.query(`delete from usage_records where ${where}`), /permission denied/);
    });
  });

  test("of a pause, or after the cancellation, is rejected; that of before is accepted", async () => {
    const id = await subscribe();
    // Certainly before the pause, whose time may be this millisecond.
    const earlier = new Date(Date.now() - 1).toISOString();
    await json(marketplace.requestAs("operator", `/subscriptions/${id}/pause`, { body: { reason: "OPERATOR_HOLD" } }));
    const paused = new Date().toISOString();
    const whilePaused = await json<UsageResults>(
      report(id, [record({ occurredAt: earlier }), record({ occurredAt: paused })]),
    );
    await json(marketplace.requestAs("operator", `/subscriptions/${id}/resume`, { method: "POST" }));
    const resumed = new Date(Date.now() + 1).toISOString();
    const later = await json<UsageResults>(
      report(id, [record({ occurredAt: paused }), record({ occurredAt: resumed })]),
    );
    await json(marketplace.requestAs("operator", `/subscriptions/${id}/cancel`, { method: "POST" }));
    const cancelled = new Date(Date.now() + 1).toISOString();
    const last = await json<UsageResults>(
      report(id, [record({ occurredAt: resumed }), record({ occurredAt: cancelled })]),
    );
    assert.deepEqual(
      [whilePaused, later, last].map(({ results }) => results.map(({ status }) => status)),
      [
        ["accepted", "rejected"],
        ["rejected", "accepted"],
        ["accepted", "rejected"],
      ],
    );
    assert.equal((await read(id)).items[0]?.quantity, "3");
  });

  test("a plan without usage rejects every record with the reason", async () => {
    const id = await subscribe("FLAT");
    const { results } = await json<UsageResults>(report(id, [record()]));
    assert.deepEqual(
      results.map(({ status, reason }) => [status, reason]),
      [["rejected", 'The plan of that time, "Solo", charges no usage.']],
    );
  });

  test("is reported only by the app's vendor, and is otherwise as if it didn't exist", async () => {
    const id = await subscribe();
    const body = { records: [record()] };
    await assertProblem(
      await marketplace.requestAs("lumen-developer", `/subscriptions/${id}/usage`, { body }),
      404,
      "subscription-not-found",
    );
    await assertProblem(
      await marketplace.requestAs("northwind-developer", `/subscriptions/${randomUUID()}/usage`, { body }),
      404,
      "subscription-not-found",
    );
    await assertProblem(
      await marketplace.requestAs("riverside-admin", `/subscriptions/${id}/usage`, { body }),
      403,
      "forbidden",
    );
    await assertProblem(
      await marketplace.requestAs("lumen-developer", `/subscriptions/${id}/usage`),
      404,
      "subscription-not-found",
    );
    await assertProblem(
      await marketplace.requestAs("hilltop-admin", `/subscriptions/${id}/usage`),
      404,
      "subscription-not-found",
    );
    assert.deepEqual((await read(id)).items, []);
  });

  test("500 records of the greatest length fit in a request; 501, or none, are 400", async () => {
    const id = await subscribe();
    const long = (index: number): UsageRecord =>
      record({ id: String(index).padStart(100, "x"), quantity: "123456789012345.123456" });
    const records = Array.from({ length: 500 }, (_, index) => long(index));
    const { results } = await json<UsageResults>(report(id, records));
    assert.ok(results.every(({ status }) => status === "accepted"));
    assert.equal((await read(id)).items[0]?.quantity, "61728394506172561.728");
    // No limit would be above what that costs.
    await withClient(marketplace.database.ownerUrl, (client) => client.query("delete from usage_days"));
    await assertProblem(await report(id, [...records, record()]), 400, "invalid-request");
    await assertProblem(await report(id, []), 400, "invalid-request");
  });

  test("that is malformed is rejected by itself, with what is wrong, and the rest of the batch counts", async () => {
    const id = await subscribe();
    const good = record({ quantity: 3 });
    const { results } = await json<UsageResults>(
      report(id, [
        { ...record({ id: "a" }), quantity: true },
        { id: "b", metric: "notes", quantity: 1 },
        { ...record({ id: "c" }), patient: "nobody" },
        { ...record({ id: "d" }), occurredAt: "yesterday" },
        record({ id: "with spaces" }),
        { ...record(), id: 7 },
        null,
        good,
      ]),
    );
    assert.deepEqual(
      results.map(({ id: of, status, reason }) => [of, status, reason]),
      [
        ["a", "rejected", "quantity must be a number, or a string."],
        ["b", "rejected", "occurredAt is required."],
        ["c", "rejected", "patient is not a known field."],
        ["d", "rejected", "occurredAt must be a date and time with a time zone, such as 2026-03-18T09:30:00Z."],
        ["with spaces", "rejected", "id must be letters, digits, dots, hyphens, underscores and colons."],
        ["", "rejected", "id must be a string."],
        ["", "rejected", "A record must be an object."],
        [good.id, "accepted", null],
      ],
    );
    assert.equal((await read(id)).items[0]?.quantity, "3");
    await assertProblem(await report(id, "records" as unknown as []), 400, "invalid-request");
  });

  test("each of 500 records is looked at, whatever is wrong with the others", async () => {
    const id = await subscribe();
    const malformed = [{}, null, { ...record(), quantity: [5] }, record({ id: "a/b" })];
    const records: unknown[] = Array.from({ length: 499 }, (_, nth) => malformed[nth % malformed.length]);
    const { results } = await json<UsageResults>(report(id, [...records, record({ quantity: 7 })]));
    assert.deepEqual(
      results.filter(({ status }) => status !== "rejected").map(({ status }) => status),
      ["accepted"],
    );
    assert.equal((await read(id)).items[0]?.quantity, "7");
    await assertProblem(await report(id, [...records, null, null]), 400, "invalid-request");
  });

  test("is reported at most 20 times a second", async () => {
    const id = await subscribe();
    await json(report(id, [record()]));
    // As if it were reported 20 times in a second that is yet to come.
    await query(
      "update usage_reporters set second = date_trunc('second', now()) + interval '1 hour', batches = 20 where subscription_id = $1",
      id,
    );
    const refused = await report(id, [record()]);
    assert.ok(Number(refused.headers.get("retry-after")) > 1);
    await assertProblem(refused, 429, "usage-reported-too-often");
    assert.equal((await read(id)).items[0]?.quantity, "1");
  });

  test("from and to widen to whole buckets, and are bounded", async () => {
    const id = await subscribe();
    await json(report(id, [record()]));
    const now = new Date().toISOString();
    assert.equal((await read(id, `?from=${now}&to=${now}&granularity=month`)).items[0]?.quantity, "1");
    const today = now.slice(0, 10);
    for (const granularity of ["hour", "day", "month"])
      assert.equal(
        (await read(id, `?from=${today}&to=${today}&granularity=${granularity}`)).items[0]?.quantity,
        "1",
        `a date, by ${granularity}`,
      );
    for (const search of [
      "?from=2027-02-30T00:00:00Z",
      "?from=2027-02-30",
      "?to=yesterday",
      "?from=2020-01-01T00:00:00Z",
      "?granularity=week",
      `?from=${now}&to=2020-01-01T00:00:00Z`,
    ]) {
      await assertProblem(
        await marketplace.requestAs("riverside-member", `/subscriptions/${id}/usage${search}`),
        400,
        "invalid-request",
      );
    }
  });
});
