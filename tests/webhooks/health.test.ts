import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { WebhookHealthDto } from "@ehr-marketplace/contracts";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";

const none = { count: 0, orMore: false };
const minuteMs = 60_000;

describe("the health of delivery", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let practices: Map<string, string>;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    const { ownerUrl } = marketplace.database;
    const made = await registerPractices(ownerUrl, { count: 5, callbackUrl: "http://127.0.0.1:9" });
    practices = new Map(made.map(({ alias, id }) => [alias, id]));
  });

  const run = (statement: string, ...values: unknown[]): Promise<unknown> =>
    withClient(marketplace.database.ownerUrl, (client) => client.query(statement, values));
  const health = async (query = ""): Promise<WebhookHealthDto> => {
    const response = await marketplace.requestAs("operator", `/admin/webhooks/health${query}`);
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as WebhookHealthDto;
  };
  const hold = async (alias: string, minutes: number): Promise<void> => {
    await run(
      "update recipients set status = 'held', held_since = now() - $2 * interval '1 minute', probes = 4 where id = $1",
      practices.get(alias),
      minutes,
    );
  };
  /** Inserts deliveries of one event each, without a sequence. */
  const insertDeliveries = (
    alias: string,
    status: string,
    given: { count?: number; minutesAgo?: number } = {},
  ): Promise<unknown> =>
    run(
      `with inserted as (
         insert into events (id, event, occurred_at, payload)
         select mint_uuid(), 'ping', now() - $4 * interval '1 minute', '{}' from generate_series(1, $3::integer)
         returning id, occurred_at
       )
       insert into deliveries (id, event_id, recipient_id, status, created_at, settled_at)
       select mint_uuid(), id, $1, $2, occurred_at, case when $2 in ('waiting', 'queued') then null else occurred_at end
       from inserted`,
      practices.get(alias),
      status,
      given.count ?? 1,
      given.minutesAgo ?? 0,
    );

  test("is all zeros and nulls without deliveries", async () => {
    const { recentAttempts, ...rest } = await health();
    assert.deepEqual(rest, {
      oldestUndeliveredSeconds: null,
      behindSeconds: null,
      waiting: none,
      queued: none,
      failedLastDay: none,
      recipients: { held: none, disabled: none },
      heldEhrs: { items: [], next: null },
      heldOrigins: [],
    });
    const { since, ...counts } = recentAttempts;
    assert.deepEqual(counts, { delivered: 0, failed: 0, unknown: 0 });
    const age = Date.now() - Date.parse(since);
    assert.ok(age >= 60 * minuteMs && age < 61 * minuteMs, `covers the last hour: since ${since}`);
  });

  test("lists EHRs that have been held for over an hour with waiting deliveries, in pages", async () => {
    await hold("practice-1", 61);
    await hold("practice-2", 59);
    await hold("practice-3", 120);
    await hold("practice-4", 300);
    for (const alias of ["practice-1", "practice-2", "practice-3"])
      await insertDeliveries(alias, "waiting", { minutesAgo: 130 });
    await insertDeliveries("practice-4", "delivered");
    await run("update organisations set callback_url = null where alias = 'practice-3'");
    const { heldEhrs, recipients, oldestUndeliveredSeconds, waiting } = await health();
    assert.deepEqual(
      heldEhrs.items.map(({ orgAlias, organisationId, failedProbes, hasCallback }) => [
        orgAlias,
        organisationId,
        failedProbes,
        hasCallback,
      ]),
      [
        ["practice-3", practices.get("practice-3"), 4, false],
        ["practice-1", practices.get("practice-1"), 4, true],
      ],
    );
    for (const { oldestDueAt } of heldEhrs.items) {
      assert.ok(Math.abs(Date.now() - Date.parse(oldestDueAt) - 130 * minuteMs) < minuteMs, oldestDueAt);
    }
    assert.ok(Math.abs(Date.now() - Date.parse(heldEhrs.items[1]?.heldSince ?? "") - 61 * minuteMs) < minuteMs);
    assert.deepEqual(recipients, { held: { count: 4, orMore: false }, disabled: none });
    assert.deepEqual(waiting, { count: 3, orMore: false });
    assert.ok(Math.abs((oldestUndeliveredSeconds ?? 0) - 130 * 60) < 60, `${oldestUndeliveredSeconds} seconds`);

    const first = await health("?limit=1");
    assert.deepEqual(first.heldEhrs.items, heldEhrs.items.slice(0, 1));
    const second = await health(`?limit=1&after=${first.heldEhrs.next}`);
    assert.deepEqual(second.heldEhrs, { items: heldEhrs.items.slice(1), next: null });
  });

  test("lists held hosts with the number of their organisations", async () => {
    await run(
      `insert into callback_origins (origin, status, held_since, consecutive_failures, probes)
       values ('http://127.0.0.1:9', 'held', now() - interval '59 minutes', 5, 58)`,
    );
    const [held, ...others] = (await health()).heldOrigins;
    assert.deepEqual(others, []);
    assert.ok(Math.abs(Date.now() - Date.parse(held?.heldSince ?? "") - 59 * minuteMs) < minuteMs);
    // Without practice-3, which has no callback any more.
    const { origin, failedProbes, organisations } = held ?? {};
    assert.deepEqual(
      { origin, failedProbes, organisations },
      { origin: "http://127.0.0.1:9", failedProbes: 58, organisations: { count: 4, orMore: false } },
    );
    await run("delete from callback_origins");
  });

  test("counts failures of the last day and outcomes of the last hour, and reports the age of the oldest ready job", async () => {
    await insertDeliveries("practice-5", "failed", { count: 2, minutesAgo: 60 });
    await insertDeliveries("practice-5", "expired", { minutesAgo: 60 });
    await insertDeliveries("practice-5", "failed", { minutesAgo: 25 * 60 });
    await insertDeliveries("practice-5", "delivered", { minutesAgo: 60 });
    await insertDeliveries("practice-5", "queued", { count: 2 });
    for (const [outcome, minutes, count] of [
      ["delivered", 5, 3],
      ["failed", 30, 2],
      ["unknown", 59, 1],
      ["delivered", 61, 9],
    ] as const) {
      await run(
        `insert into delivery_attempts (id, delivery_id, recipient_id, url, attempt, started_at, outcome)
         select mint_uuid(), mint_uuid(), $1, 'http://127.0.0.1:9', 1, now() - $3 * interval '1 minute', $2
         from generate_series(1, $4::integer)`,
        practices.get("practice-5"),
        outcome,
        minutes,
        count,
      );
    }
    await run(
      `insert into pgboss.job (id, name, start_after, created_on)
       select mint_uuid(), 'deliveries', now() + start * interval '1 second', now() + start * interval '1 second'
       from unnest(array[-90, -20, 600]) start`,
    );
    const { failedLastDay, queued, recentAttempts, behindSeconds } = await health();
    assert.deepEqual(failedLastDay, { count: 3, orMore: false });
    assert.deepEqual(queued, { count: 2, orMore: false });
    const { since: _since, ...counts } = recentAttempts;
    assert.deepEqual(counts, { delivered: 3, failed: 2, unknown: 1 });
    assert.ok(behindSeconds !== null && behindSeconds >= 90 && behindSeconds < 100, `behind by ${behindSeconds}`);
  });

  test("counts to ten thousand and reports whether there are more", async () => {
    await insertDeliveries("practice-1", "waiting", { count: 9_997 });
    assert.deepEqual((await health()).waiting, { count: 10_000, orMore: false });
    await insertDeliveries("practice-1", "waiting");
    assert.deepEqual((await health()).waiting, { count: 10_000, orMore: true });
  });

  test("counts the newest ten thousand attempts of an hour and reports since when", async () => {
    await run(
      `insert into delivery_attempts (id, delivery_id, recipient_id, url, attempt, started_at, outcome)
       select mint_uuid(), mint_uuid(), $1, 'http://127.0.0.1:9', 1, now() - n * interval '10 milliseconds', 'delivered'
       from generate_series(1, 10050) n`,
      practices.get("practice-1"),
    );
    const { since, ...counts } = (await health()).recentAttempts;
    assert.deepEqual(counts, { delivered: 10_000, failed: 0, unknown: 0 });
    const age = Date.now() - Date.parse(since);
    assert.ok(age >= 100_000 && age < 150_000, `the 10,000th attempt started 100 seconds ago: ${since}`);
  });
});

test("the gauges of workers count held EHRs and hosts, and what is late", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const [heldPractice] = await registerPractices(ownerUrl, { count: 1, callbackUrl: "http://127.0.0.1:9" });
  await withClient(ownerUrl, (client) =>
    client.query(
      "update recipients set status = 'held', held_since = now() - interval '2 hours', probes = 1 where id = $1",
      [heldPractice?.id],
    ),
  );
  await registerPractices(ownerUrl, { count: 2, callbackUrl: "http://127.0.0.1:10/ehr", prefix: "shared" });
  const [justHeld] = await registerPractices(ownerUrl, { count: 2, callbackUrl: "http://127.0.0.1:9", prefix: "just" });
  await withClient(ownerUrl, (client) =>
    client.query("update recipients set status = 'held', held_since = now(), probes = 1 where id = $1", [justHeld?.id]),
  );
  const withCallback = await withClient(ownerUrl, async (client) => {
    const { rows } = await client.query("select count(*)::int as n from organisations where callback_url is not null");
    return (rows as { n: number }[])[0]?.n;
  });
  await withClient(ownerUrl, (client) =>
    client.query(
      `insert into callback_origins (origin, status, held_since)
       values ('http://127.0.0.1:10', 'held', now() - interval '2 hours')`,
    ),
  );
  const worker = await startWorkerProcess(cleanUp, serviceUrl, { environment: { LOG_LEVEL: "error" } });
  const measured = await (await fetch(`${worker.url}/metrics`)).text();
  assert.match(measured, new RegExp(`^webhook_ehrs\\{[^}]*\\} ${withCallback}$`, "m"));
  assert.match(measured, /^webhook_ehrs_held\{[^}]*\} 4$/m);
  assert.match(measured, /^webhook_ehrs_held_too_long\{[^}]*\} 3$/m);
  assert.match(measured, /^webhook_origins_held\{[^}]*\} 1$/m);
  assert.match(measured, /^webhook_failed_last_day\{[^}]*\} 0$/m);
  assert.match(measured, /^webhook_behind_seconds\{[^}]*\} 0$/m);
});
