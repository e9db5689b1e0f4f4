import assert from "node:assert/strict";
import { test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, rounds, timeLimitMs, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import type { SubscriptionChange } from "../events/event.ts";
import { recordEvent } from "../events/record-event.ts";
import { deliveries } from "../queue/queues.ts";
import { delivered } from "./attempt-result.test-support.ts";
import { type ClaimedDelivery, claimDeliveries } from "./claim-store.ts";
import { maxFailures } from "./retry-schedule.ts";
import { type Settlement, settleDelivered, settleFailed } from "./settle.ts";
import { sweepDeliveries } from "./sweep.ts";

const keyCount = 100;
/** Each race uses two connections, so that neither side waits for a connection. */
const racesAtOnce = 10;
/** Each batch is a subtest, so that a full run shows its progress. */
const racesToReport = 10_000;

type Change = Pick<SubscriptionChange, "subscription" | "organisationId" | "vendorId" | "app">;

const insertSubscriptions = `
  with offer as (
    select apps.id, slug, vendor_id, plan.id as plan_id from apps join pricing_plans plan on app_id = apps.id
    where slug = 'northwind-scribe' limit 1
  ), made as (
    insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, revision)
    select mint_uuid(), practice, offer.id, plan_id, 'active', now(), now(), 1 from offer, unnest($1::uuid[]) practice
    returning id, organisation_id
  )
  select json_build_object('id', made.id, 'status', 'active', 'orgAlias', alias) as subscription,
    organisation_id as "organisationId", offer.vendor_id as "vendorId",
    json_build_object('id', offer.id, 'slug', slug, 'name', 'Scribe', 'iconUrl', 'https://a.example/icon.svg',
      'category', 'DOCUMENTATION', 'extensionPoints', '[]'::json, 'smartLaunchUrl', null, 'fhirScopes', '') as app
  from made join organisations on organisations.id = organisation_id, offer`;

const count = rounds(3_000, 100_000);

test("the next delivery of an ordering key is always queued, however recording and settling race", {
  timeout: timeLimitMs(count, 0.05),
}, async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const { database, pool, queue, clock, logger } = await connectAsService<DB>(cleanUp, serviceUrl, {
    poolSize: 2 * racesAtOnce,
  });
  const boss = queue.boss();
  const practices = await registerPractices(ownerUrl, { count: keyCount, callbackUrl: "http://127.0.0.1:9" });
  const ids = practices.map(({ id }) => id);
  const { rows } = await withClient(ownerUrl, (client) => client.query<Change>(insertSubscriptions, [ids]));
  assert.equal(rows.length, keyCount);
  const changeById = new Map(rows.map((change) => [change.subscription.id, change]));

  /** Returns the next delivery's initial status: queued when its predecessor was settled already, else waiting. */
  const record = (change: Change, sequence: number): Promise<string> =>
    database.transaction().execute(async (transaction) => {
      const { id } = change.subscription;
      await transaction.selectFrom("subscriptions").select("id").where("id", "=", id).forUpdate().execute();
      const event = sequence % 2 === 1 ? "subscription.resumed" : "subscription.paused";
      await recordEvent(transaction, queue, { ...change, event, pauseReason: null, sequence, occurredAt: new Date() });
      const made = transaction.selectFrom("deliveries").select("status").where("subscription_id", "=", id);
      return (await made.where("sequence", "=", sequence).executeTakeFirstOrThrow()).status;
    });
  const settling = { database, queue, clock, logger, random: Math.random };
  const settle = (claimed: ClaimedDelivery, forGood: boolean): Promise<unknown> => {
    const job = { id: claimed.id, retryCount: 0 };
    const settlement: Settlement = { delivery: claimed, result: delivered, isProbe: false, job };
    if (!forGood) return settleDelivered(settling, [settlement]);
    const delivery = { ...claimed, failures: maxFailures - 1 };
    return settleFailed(settling, { ...settlement, delivery, result: { ...delivered, outcome: "failed" } });
  };
  const claimHeads = async (): Promise<ClaimedDelivery[]> => {
    const jobs = await boss.fetch(deliveries, { batchSize: keyCount });
    return claimDeliveries(database, { ids: jobs.map(({ id }) => id), probes: [], workerId: null, now: new Date() });
  };
  const open = async (): Promise<object | undefined> => {
    const found = await pool.query<object>(
      `select count(*)::int as open, (count(*) filter (where d.status = 'waiting'))::int as waiting,
         (count(*) filter (where j.id is null))::int as "withoutJob"
       from deliveries d left join pgboss.job j on j.name = $1 and j.id = d.id and j.state = 'created'
       where d.status in ('waiting', 'queued')`,
      [deliveries],
    );
    return found.rows[0];
  };

  /** Limits concurrency to two connections each, so that no race waits for a connection. */
  const inTurns = async <T>(items: T[], work: (item: T, nth: number) => Promise<unknown>): Promise<void> => {
    const left = [...items.entries()];
    const run = async (): Promise<void> => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) await work(next[1], next[0]);
    };
    await Promise.all(Array.from({ length: racesAtOnce }, run));
  };
  await inTurns(rows, (change) => record(change, 1));
  const came = { waiting: 0, queued: 0 };
  let races = 0;
  const raceAllKeys = async (): Promise<void> => {
    const heads = await claimHeads();
    assert.equal(heads.length, keyCount, `every ordering key has its next delivery, after ${races} races`);
    const sequence = races / keyCount + 2;
    const race = async (head: ClaimedDelivery, nth: number): Promise<void> => {
      const change = changeById.get(head.subscription_id ?? "");
      assert.ok(change !== undefined);
      // Every second delivery fails finally, which also queues the next one; five failures in a row would hold the recipient.
      const starts = [() => record(change, sequence), () => settle(head, sequence % 2 === 0)];
      const [first, second] = nth % 2 === 0 ? starts : starts.toReversed();
      const done = await Promise.all([first?.(), second?.()]);
      came[done.includes("queued") ? "queued" : "waiting"] += 1;
    };
    await inTurns(heads, race);
    races += keyCount;
    assert.deepEqual(await open(), { open: keyCount, waiting: 0, withoutJob: 0 }, `after ${races} races`);
  };
  for (let from = 0; from < count; from += racesToReport) {
    const until = Math.min(count, from + racesToReport);
    await t.test(`races ${from + 1} to ${until}`, async () => {
      for (let next = from; next < until; next += keyCount) await raceAllKeys();
    });
  }
  // The sweep ignores deliveries younger than a minute.
  const swept = await sweepDeliveries(database, queue, new Date(Date.now() + 120_000));
  assert.equal(swept, 0, "the sweep finds nothing");
  assert.ok(Math.min(came.waiting, came.queued) > count / 20, `each side wins some: ${JSON.stringify(came)}`);
  t.diagnostic(
    `${count} races with ${keyCount} ordering keys: ${came.waiting} recorded before the settling, ${came.queued} after it; ` +
      `successors lost 0, found by the sweep: ${swept}`,
  );
});
