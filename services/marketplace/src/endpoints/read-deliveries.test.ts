import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type {
  SubscriptionDto,
  WebhookDeliveryDto,
  WebhookDeliveryLog,
  WebhookDeliveryLogPage,
  WebhookDeliveryPage,
} from "@ehr-marketplace/contracts";
import { encodeCursor } from "@ehr-marketplace/service-kit/http";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { subscribed } from "../subscriptions/subscribe.test-support.ts";
import { registered } from "./register.test-support.ts";

const many = 1_150;
const statuses = ["waiting", "queued", "delivered", "failed", "expired", "dropped"] as const;
const start = Date.parse("2026-01-01T00:00:00.000Z");

describe("reading an endpoint's deliveries", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let endpoint: string;
  let other: string;
  let all: WebhookDeliveryDto[];
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    endpoint = (await registered(marketplace)).id;
    other = (await registered(marketplace)).id;
    all = [];
    for (let index = 0; index < many; index += 1) {
      const status = statuses[index % statuses.length] ?? "waiting";
      const settled = status !== "waiting" && status !== "queued";
      // Nine at a time have the same time and are ordered by id only.
      const createdAt = new Date(start + Math.floor(index / 9) * 1_000);
      all.push({
        id: randomUUID(),
        eventId: randomUUID(),
        event: index % 2 === 0 ? "ping" : "app.updated",
        status,
        attempts: index % 13,
        failures: index % 12,
        nextAttemptAt: status === "queued" ? new Date(start + index).toISOString() : null,
        createdAt: createdAt.toISOString(),
        settledAt: settled ? new Date(createdAt.getTime() + 1_500).toISOString() : null,
        subscriptionId: null,
      });
    }
    await insert(endpoint, all);
    await insert(
      other,
      all.slice(0, 100).map((each) => ({ ...each, id: randomUUID(), eventId: randomUUID() })),
    );
    all.sort((a, b) => (`${a.createdAt} ${a.id}` < `${b.createdAt} ${b.id}` ? 1 : -1));
  });
  const query = async <T>(text: string, values: unknown[] = []): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(text, values)).rows as T[]);
  const insert = async (recipient: string, deliveries: WebhookDeliveryDto[]): Promise<void> => {
    const given = JSON.stringify(deliveries);
    await query(
      `insert into events (id, event, occurred_at, payload)
       select "eventId", event, "createdAt", '{}'
       from json_to_recordset($1) as given ("eventId" uuid, event text, "createdAt" timestamptz)`,
      [given],
    );
    await query(
      `insert into deliveries (id, event_id, recipient_id, status, attempts, failures, next_attempt_at, created_at, settled_at)
       select id, "eventId", $2, status, attempts, failures, "nextAttemptAt", "createdAt", "settledAt"
       from json_to_recordset($1) as given (id uuid, "eventId" uuid, status text, attempts int, failures int,
         "nextAttemptAt" timestamptz, "createdAt" timestamptz, "settledAt" timestamptz)`,
      [given, recipient],
    );
  };
  const list = (below: string, search = ""): Promise<Response> =>
    marketplace.requestAs("northwind-developer", `/developer/webhooks/${endpoint}/deliveries${below}?${search}`);
  const walk = async <T>(below: string, search: string): Promise<T[][]> => {
    const pages: T[][] = [];
    for (let next: string | null = ""; next !== null; ) {
      const response = await list(below, `${search}${next === "" ? "" : `&after=${next}`}`);
      assert.equal(response.status, 200, await response.clone().text());
      const page = (await response.json()) as { items: T[]; next: string | null };
      assert.deepEqual(Object.keys(page), ["items", "next"]);
      pages.push(page.items);
      next = page.next;
    }
    return pages;
  };

  for (const [search, size] of [
    ["", 100],
    ["limit=230", 230],
    ["limit=99999", 1_000],
    [`limit=${many / 2}`, many / 2],
  ] as const) {
    test(`${search === "" ? "without a limit" : search}: pages of ${size}, newest first, with each delivery of the endpoint once`, async () => {
      const pages = await walk<WebhookDeliveryDto>("", search);
      assert.deepEqual(pages.flat(), all);
      assert.ok(pages.slice(0, -1).every(({ length }) => length === size));
      assert.ok((pages.at(-1)?.length ?? 0) > 0);
    });
  }

  for (const status of statuses) {
    test(`status=${status}: lists only those`, async () => {
      const found = (await walk<WebhookDeliveryDto>("", `status=${status}&limit=60`)).flat();
      assert.deepEqual(
        found,
        all.filter((each) => each.status === status),
      );
    });
  }

  test("from (inclusive) and to (exclusive) filter by the time of creation", async () => {
    const from = "2026-01-01T00:00:30.000Z";
    const to = "2026-01-01T00:01:00.000Z";
    const within = (bounds: { from?: string; to?: string }): WebhookDeliveryDto[] =>
      all.filter(({ createdAt }) => createdAt >= (bounds.from ?? "") && createdAt < (bounds.to ?? "3"));
    for (const [search, expected] of [
      [`from=${from}`, within({ from })],
      [`to=${to}`, within({ to })],
      [`from=${from}&to=${to}`, within({ from, to })],
      [`from=2026-01-01T02:00:30%2B02:00&to=${to}`, within({ from, to })],
      [`from=${to}&to=${from}`, []],
      ["to=0001-01-01T00:00:00Z", []],
      ["from=9999-12-31T23:59:59Z", []],
    ] as const) {
      assert.deepEqual((await walk<WebhookDeliveryDto>("", `${search}&limit=200`)).flat(), expected, search);
    }
    const failed = await walk<WebhookDeliveryDto>("", `from=${from}&to=${to}&status=failed`);
    assert.deepEqual(
      failed.flat(),
      within({ from, to }).filter((each) => each.status === "failed"),
    );
  });

  for (const [search, pointer] of [
    ["status=lost", "/query/status"],
    ["from=yesterday", "/query/from"],
    ["from=2026-01-01", "/query/from"],
    ["to=2026-02-30T00:00:00Z", "/query/to"],
    ["to=2016-12-31T23:59:60Z", "/query/to"],
    ["limit=0", "/query/limit"],
    [`after=${encodeCursor("soon", randomUUID())}`, "/query/after"],
    ["after=x", "/query/after"],
  ] as const) {
    test(`returns 400 for ${search}`, async () => {
      const problem = await assertProblem(await list("", search), 400, "invalid-request");
      assert.equal((problem["errors"] as { pointer: string }[])[0]?.pointer, pointer);
    });
  }

  test("has the event's subscription id", async () => {
    const mine = await registered(marketplace, { body: { events: ["subscription.created"] } });
    const subscription: SubscriptionDto = await subscribed(marketplace, "northwind-scribe");
    const response = await marketplace.requestAs("northwind-developer", `/developer/webhooks/${mine.id}/deliveries`);
    const { items } = (await response.json()) as WebhookDeliveryPage;
    assert.deepEqual(
      items.map(({ event, subscriptionId }) => [event, subscriptionId]),
      [["subscription.created", subscription.id]],
    );
  });

  describe("one delivery", () => {
    test("has its fields and its payload, byte for byte as sent", async () => {
      const mine = await registered(marketplace, { body: { events: ["subscription.created"] } });
      await subscribed(marketplace, "lab-lantern", { by: "operator", orgAlias: "hilltop-family-practice" });
      const payload = '{"event":"subscription.created",  "résumé":"\\u00e9\\n\u2028"}';
      const [delivery] = await query<{ id: string; event_id: string }>(
        `insert into deliveries (id, event_id, recipient_id, status, created_at, settled_at)
         select gen_random_uuid(), id, $1, 'delivered', occurred_at, occurred_at from events
         where event = 'subscription.created' order by occurred_at desc limit 1 returning id, event_id`,
        [mine.id],
      );
      await query("update events set payload = $2 where id = $1", [delivery?.event_id, payload]);
      const path = `/developer/webhooks/${mine.id}/deliveries`;
      const response = await marketplace.requestAs("northwind-developer", `${path}/${delivery?.id}`);
      assert.equal(response.status, 200, await response.clone().text());
      const listed = (await (await marketplace.requestAs("northwind-developer", path)).json()) as WebhookDeliveryPage;
      assert.deepEqual(await response.json(), { ...listed.items[0], payload });
    });

    test("returns 404 for another endpoint's delivery, an unknown one, and another vendor's endpoint", async () => {
      const paths = [`${other}/deliveries/${all[0]?.id}`, `${endpoint}/deliveries/${randomUUID()}`];
      for (const path of paths) {
        const response = await marketplace.requestAs("northwind-developer", `/developer/webhooks/${path}`);
        await assertProblem(response, 404, "delivery-not-found");
      }
      const path = `/developer/webhooks/${endpoint}/deliveries/${all[0]?.id}`;
      await assertProblem(await marketplace.requestAs("lumen-developer", path), 404, "endpoint-not-found");
    });
  });

  describe("the attempts of a delivery", () => {
    let delivery: WebhookDeliveryDto;
    let attempts: WebhookDeliveryLog[];
    before(async () => {
      const [{ today } = { today: new Date() }] = await query<{ today: Date }>(
        "select date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' as today",
      );
      // In the future, where partitions exist too, so that the test doesn't depend on the time of day.
      const noon = today.getTime() + 3 * 86_400_000 + 43_200_000;
      const [first] = all;
      assert.ok(first);
      delivery = { ...first, id: randomUUID(), eventId: randomUUID(), createdAt: new Date(noon).toISOString() };
      delivery = { ...delivery, event: "usage.reported", status: "queued", settledAt: null, nextAttemptAt: null };
      await insert(endpoint, [delivery]);
      attempts = Array.from({ length: 125 }, (_, index): WebhookDeliveryLog => {
        const outcome = (["delivered", "failed", "unknown"] as const)[index % 3] ?? "unknown";
        return {
          id: randomUUID(),
          deliveryId: delivery.id,
          eventId: delivery.eventId,
          event: "usage.reported",
          recipient: { kind: "endpoint", id: endpoint, url: `https://hooks.example/${index}` },
          attempt: index + 1,
          // The first started before the event by another machine's clock; pairs have the same time.
          startedAt: new Date(noon - 60_000 + Math.floor(index / 2) * 1_440_000).toISOString(),
          durationMs: outcome === "unknown" ? null : index,
          outcome,
          statusCode: outcome === "unknown" ? null : 200 + index,
          error: outcome === "failed" ? "send: timed-out" : null,
          responseSnippet: outcome === "unknown" ? null : `answer ${index}`,
          nextAttemptAt: outcome === "failed" ? new Date(noon + 86_400_000).toISOString() : null,
        };
      });
      const elsewhere = { ...attempts[0], id: randomUUID(), deliveryId: all[1]?.id };
      await query(
        `insert into delivery_attempts (id, delivery_id, recipient_id, url, attempt, started_at, duration_ms, outcome,
           status_code, error, response_snippet, next_attempt_at)
         select id, "deliveryId", (recipient ->> 'id')::uuid, recipient ->> 'url', attempt, "startedAt", "durationMs", outcome,
           "statusCode", error, "responseSnippet", "nextAttemptAt"
         from json_to_recordset($1) as given (id uuid, "deliveryId" uuid, recipient json, attempt int,
           "startedAt" timestamptz, "durationMs" int, outcome text, "statusCode" int, error text, "responseSnippet" text,
           "nextAttemptAt" timestamptz)`,
        [JSON.stringify([...attempts, elsewhere])],
      );
      attempts.sort((a, b) => (`${a.startedAt} ${a.id}` < `${b.startedAt} ${b.id}` ? -1 : 1));
    });

    for (const [search, sizes] of [
      ["", [100, 25]],
      ["limit=50", [50, 50, 25]],
      ["limit=25", [25, 25, 25, 25, 25]],
      ["limit=1000", [100, 25]],
    ] as const) {
      test(`${search === "" ? "without a limit" : search}: lists each once, oldest first`, async () => {
        const pages = await walk<WebhookDeliveryLog>(`/${delivery.id}/attempts`, search);
        assert.deepEqual(pages.flat(), attempts);
        assert.deepEqual(
          pages.map(({ length }) => length),
          sizes,
        );
      });
    }

    test("are empty before the first attempt", async () => {
      const response = await list(`/${all[5]?.id}/attempts`);
      assert.deepEqual(await response.json(), { items: [], next: null });
    });

    test("are not searched in partitions from before the delivery", async () => {
      await withClient(marketplace.database.ownerUrl, async (client) => {
        const { rows } = await client.query<{ name: string }>(
          `select inhrelid::regclass::text as name from pg_inherits
           where inhparent = 'delivery_attempts'::regclass and right(inhrelid::regclass::text, 8) < to_char($1::timestamptz at time zone 'UTC', 'YYYYMMDD')`,
          [delivery.createdAt],
        );
        assert.ok(rows.length >= 3);
        await client.query("begin");
        // Reading these partitions would wait for the lock until the statement timeout.
        for (const { name } of rows) await client.query(`lock table only ${name} in access exclusive mode`);
        const response = await list(`/${delivery.id}/attempts`);
        assert.equal(response.status, 200, await response.clone().text());
        assert.equal(((await response.json()) as WebhookDeliveryLogPage).items.length, 100);
        await client.query("rollback");
      });
    });

    test("returns 404 for another endpoint's delivery and an unknown one", async () => {
      for (const id of [delivery.id, randomUUID()]) {
        const path = `/developer/webhooks/${other}/deliveries/${id}/attempts`;
        await assertProblem(await marketplace.requestAs("northwind-developer", path), 404, "delivery-not-found");
      }
    });

    for (const search of ["limit=0", "after=x", `after=${encodeCursor("2026-01-01T00:00:00.000Z", "1")}`]) {
      test(`returns 400 for ${search}`, async () => {
        await assertProblem(await list(`/${delivery.id}/attempts`, search), 400, "invalid-request");
      });
    }
  });
});
