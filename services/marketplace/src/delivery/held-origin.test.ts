import assert from "node:assert/strict";
import { before, beforeEach, describe, test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { recordEvent } from "../events/record-event.ts";
import { deliveries, recoveries } from "../queue/queues.ts";
import { applyRecipientEvent } from "../recipients/apply-recipient-event.ts";
import { failuresToHold, firstOriginPace, originProbeDelayMs } from "../recipients/recovery-schedule.ts";
import { delivered } from "./attempt-result.test-support.ts";
import type { AttemptResult } from "./attempt-result.ts";
import { claim, isProbe, returnUnclaimedJobs } from "./claim.ts";
import type { ClaimedDelivery } from "./claim-store.ts";
import type { DeliveryJob } from "./delivery-jobs.ts";
import { maxQueuedPerRecipient } from "./retry-schedule.ts";
import { runDueRecoveries } from "./run-due-recoveries.ts";
import { settleDelivered, settleFailed, settleResponses } from "./settle.ts";
import { sweepDeliveries } from "./sweep.ts";

const refused: AttemptResult = {
  ...delivered,
  outcome: "failed",
  statusCode: null,
  error: "connect: connection-refused",
  reachability: "unreachable",
};
const wrongSecret: AttemptResult = { ...delivered, outcome: "failed", statusCode: 401, error: "answered 401" };

interface Practice {
  id: string;
  subscription: { id: string; orgAlias: string };
  appId: string;
  vendorId: string;
}

const insertSubscriptions = `
  with offer as (
    select apps.id, vendor_id, plan.id as plan_id from apps join pricing_plans plan on app_id = apps.id
    where slug = $2 limit 1
  ), made as (
    insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, revision)
    select mint_uuid(), practice, offer.id, plan_id, 'active', now(), now(), 1 from offer, unnest($1::uuid[]) practice
    returning id, organisation_id
  )
  select organisation_id as id, json_build_object('id', made.id, 'status', 'active', 'orgAlias', alias) as subscription,
    offer.id as "appId", offer.vendor_id as "vendorId"
  from made join organisations on organisations.id = organisation_id, offer order by 1`;

describe("the practices of a host that can't be reached", () => {
  const cleanUp = cleanUpAfter();
  let ownerUrl: string;
  let connected: ServiceConnection<DB>;
  let port = 10_000;
  let origin: string;
  let sequence = 0;
  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = cloned);
    connected = await connectAsService<DB>(cleanUp, cloned.serviceUrl, { poolSize: 12 });
  });
  /** Each test has a host of its own. */
  beforeEach(async () => {
    port += 1;
    origin = `http://127.0.0.1:${port}`;
    await rows("delete from pgboss.job where name = any ($1)", [[deliveries, recoveries]]);
    await rows("update deliveries set status = 'expired', settled_at = now() where settled_at is null");
    await rows("delete from callback_origins");
  });
  const rows = async <T extends object>(sql: string, values: unknown[] = []): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(sql, values))).rows;

  const subscribe = (ids: string[], slug: string): Promise<Practice[]> =>
    rows<Practice>(insertSubscriptions, [ids, slug]);
  const register = async (count: number, callbackUrl = `${origin}/ehr`): Promise<Practice[]> => {
    const made = await registerPractices(ownerUrl, { count, callbackUrl, prefix: uuid() });
    return subscribe(
      made.map(({ id }) => id),
      "northwind-scribe",
    );
  };
  const record = async (practices: (Practice | undefined)[], beforeCommit?: () => Promise<void>): Promise<void> => {
    const { database, queue } = connected;
    for (const practice of practices) {
      const { id, subscription, appId, vendorId } = practice ?? assert.fail("no such practice");
      sequence += 1;
      await database.transaction().execute(async (transaction) => {
        await recordEvent(transaction, queue, {
          event: "subscription.paused",
          organisationId: id,
          vendorId,
          subscription: { ...subscription, status: "active" },
          app: { id: appId, slug: "northwind-scribe" },
          sequence,
          pauseReason: null,
          occurredAt: new Date(),
        } as Parameters<typeof recordEvent>[2]);
        await beforeCommit?.();
      });
    }
  };

  /** Fetches and claims the deliveries that are ready. */
  const claimReady = async (): Promise<{ job: DeliveryJob; delivery: ClaimedDelivery }[]> => {
    const jobs: DeliveryJob[] = await connected.queue.boss().fetch(deliveries, {
      batchSize: 1_000,
      includeMetadata: true,
    });
    if (jobs.length === 0) return [];
    const claimed = await claim(connected, jobs, null);
    await returnUnclaimedJobs(
      connected,
      jobs.filter(({ id }) => !claimed.has(id)),
    );
    return jobs.flatMap((job) => {
      const delivery = claimed.get(job.id);
      return delivery === undefined ? [] : [{ job, delivery }];
    });
  };
  /** Sends what is ready; every request has this result. Returns the practices in the order of their requests. */
  const send = async (result: AttemptResult): Promise<string[]> => {
    const claimed = await claimReady();
    const settling = { ...connected, random: Math.random };
    for (const { job, delivery } of claimed) {
      const settlement = { delivery, result, isProbe: isProbe(job), job };
      if (result.outcome === "failed") await settleFailed(settling, settlement);
      else await settleResponses(settling, await settleDelivered(settling, [settlement]));
    }
    return claimed.map(({ delivery }) => delivery.recipient_id);
  };
  const advanceJobs = (name: string): Promise<object[]> =>
    rows("update pgboss.job set start_after = now() where name = $1 and state < 'active'", [name]);
  /** Otherwise retries are due within seconds, sooner than a busy machine gets to the next step. */
  const postponeRetries = (): Promise<object[]> =>
    rows("update pgboss.job set start_after = now() + interval '1 hour' where name = $1 and state < 'active'", [
      deliveries,
    ]);
  /** Runs the recovery steps that are planned, whatever their time. */
  const recover = async (): Promise<void> => {
    await advanceJobs(recoveries);
    await runDueRecoveries({ ...connected, stopped: new AbortController().signal });
  };
  const originState = async (): Promise<{ status: string; probes: number; planned: number | null } | undefined> => {
    const [found] = await rows<{ status: string; probes: number; planned: number | null }>(
      `select status, probes, (
         select round(extract(epoch from start_after - now()))::int from pgboss.job j where j.name = $2 and j.id = c.id
       ) as planned
       from callback_origins c where origin = $1`,
      [origin, recoveries],
    );
    return found;
  };
  const statuses = async (practices: Practice[]): Promise<string[]> => {
    const found = await rows<{ status: string }>(
      "select status from deliveries where recipient_id = any ($1::uuid[]) order by recipient_id, sequence",
      [practices.map(({ id }) => id)],
    );
    return found.map(({ status }) => status);
  };
  const recipientStatus = async (practice: Practice | undefined): Promise<string | undefined> =>
    (await rows<{ status: string }>("select status from recipients where id = $1", [practice?.id]))[0]?.status;
  /** Holds the origin by one failure of each of the first five practices. */
  const hold = async (practices: Practice[]): Promise<void> => {
    await record(practices.slice(0, failuresToHold));
    assert.equal((await send(refused)).length, failuresToHold);
    assert.equal((await originState())?.status, "held");
    // The retries that were scheduled before.
    await advanceJobs(deliveries);
    assert.deepEqual(await send(refused), []);
  };

  test("are held together after five failures in a row, and their deliveries wait without a job", async () => {
    const practices = await register(7);
    const [elsewhere] = await register(1, "http://127.0.0.1:9");
    await record(practices.slice(0, 6));
    const [first, ...others] = await claimReady();
    assert.ok(first !== undefined);
    const settling = { ...connected, random: Math.random };
    for (const { job, delivery } of others.slice(0, failuresToHold)) {
      await settleFailed(settling, { delivery, result: refused, isProbe: false, job });
    }
    const held = await originState();
    assert.deepEqual([held?.status, held?.probes], ["held", 0]);
    assert.ok(Math.abs((held?.planned ?? 0) - originProbeDelayMs / 1_000) <= 5, `a probe in ${held?.planned} s`);
    await settleFailed(settling, { delivery: first.delivery, result: refused, isProbe: false, job: first.job });

    await record([practices[6], elsewhere]);
    assert.deepEqual(await send(delivered), [elsewhere?.id], "only the practice of another host is sent to");
    await advanceJobs(deliveries);
    assert.deepEqual(await send(delivered), [], "retries that were scheduled before are not sent either");
    assert.deepEqual(new Set(await statuses(practices)), new Set(["waiting"]));
    assert.equal(await recipientStatus(practices[0]), "active", "no practice is held by itself");
  });

  test("are not held by one of them that fails alone, whether it refuses the signature or doesn't respond", async () => {
    for (const result of [wrongSecret, refused]) {
      const [failing, other] = await register(2);
      for (let failures = 0; failures < failuresToHold; failures += 1) {
        await record([failing]);
        await advanceJobs(deliveries);
        await send(result);
      }
      assert.equal(await recipientStatus(failing), "held");
      assert.notEqual((await originState())?.status, "held");
      await record([other]);
      assert.deepEqual(await send(delivered), [other?.id]);
    }
  });

  test("are not held when any of them responds in between", async () => {
    const practices = await register(10);
    await record(practices.slice(0, 4));
    await send(refused);
    await postponeRetries();
    await record([practices[4]]);
    await send(wrongSecret);
    await postponeRetries();
    await record(practices.slice(5, 9));
    await send(refused);
    assert.equal((await originState())?.status, "active");
  });

  test("are probed one at a time, each practice in turn, every minute, and probes don't count as failures", async () => {
    const practices = await register(6);
    await hold(practices);
    await record([practices[5]]);
    const probed: (string | undefined)[] = [];
    for (let probe = 1; probe <= 7; probe += 1) {
      await recover();
      const sent = await send(refused);
      assert.equal(sent.length, 1, "one probe");
      probed.push(sent[0]);
      const { planned, probes } = (await originState()) ?? {};
      assert.equal(probes, probe);
      assert.ok(Math.abs((planned ?? 0) - 60) <= 5, `the next one in ${planned} s`);
    }
    const turn = practices.map(({ id }) => id);
    assert.deepEqual(probed, [...turn, turn[0]]);
    const failures = await rows<{ failures: number }>(
      "select distinct failures from deliveries where recipient_id = any ($1::uuid[]) order by 1",
      [turn],
    );
    assert.deepEqual(failures, [{ failures: 0 }, { failures: 1 }], "only the failures before it was held count");
  });

  test("are all sent to again, more in each step, once a probe is answered, also with an error", async () => {
    const count = 5 * firstOriginPace;
    const practices = await register(count);
    await hold(practices);
    await record(practices.slice(failuresToHold));
    await recover();
    const [probed] = await send(wrongSecret);
    assert.equal((await originState())?.status, "active");
    const sent: number[] = [];
    for (let step = 0; step < 3; step += 1) {
      await recover();
      sent.push((await send(delivered)).filter((id) => id !== probed).length);
    }
    assert.deepEqual(sent, [firstOriginPace - 1, 2 * firstOriginPace, 2 * firstOriginPace]);
    // The retry of the delivery that was the probe.
    await advanceJobs(deliveries);
    await send(delivered);
    assert.deepEqual(new Set(await statuses(practices)), new Set(["delivered"]));
    assert.deepEqual(await rows("select from pgboss.job where name = $1", [recoveries]), [], "the recovery has ended");
  });

  test("recover in order and completely when they have many subscriptions and several events each", async () => {
    const practices = await register(failuresToHold);
    const ids = practices.map(({ id }) => id);
    const more: Practice[] = [];
    const apps = await rows<{ slug: string }>("select slug from apps where slug <> 'northwind-scribe' limit 14");
    for (const { slug } of apps) more.push(...(await subscribe(ids, slug)));
    await hold(practices);
    await record([...more, ...more]);
    await recover();
    await send(delivered);
    await eventually("everything is delivered", 20_000, async () => {
      await recover();
      await send(delivered);
      return (await statuses(practices)).every((status) => status === "delivered");
    });
    assert.equal((await statuses(practices)).length, failuresToHold + 2 * more.length);
  });

  test("include one that has become held by itself meanwhile, which is probed at once when the host is back", async () => {
    const practices = await register(6);
    const failing = practices[5];
    await hold(practices);
    await record([failing]);
    await rows("update recipients set status = 'held', held_since = now() where id = $1", [failing?.id]);
    await recover();
    await send(delivered);
    await recover();
    await send(delivered);
    await recover();
    assert.deepEqual(await send(delivered), [failing?.id], "its own probe");
    assert.equal(await recipientStatus(failing), "active");
  });

  test("aren't probed by themselves while the host is held", async () => {
    const practices = await register(6);
    const failing = practices[5];
    await record([failing]);
    await rows("update recipients set status = 'held', held_since = now() where id = $1", [failing?.id]);
    await hold(practices);
    await connected.queue.boss().insert(recoveries, [{ id: failing?.id ?? "", data: {} }]);
    await recover();
    assert.equal((await send(refused)).length, 1, "the host's probe only");
  });

  test("are not held again and again by those that never respond, and one that works doesn't wait for them", async () => {
    const dead = await register(8);
    const [working] = await register(1);
    await record(dead);
    await rows(
      `update recipients set status = 'held', held_since = now() - interval '1 day', consecutive_failures = 9, probes = 9
       where id = any ($1::uuid[])`,
      [dead.map(({ id }) => id)],
    );
    await send(refused);
    await connected.queue.boss().insert(
      recoveries,
      dead.map(({ id }) => ({ id, data: {} })),
    );
    await recover();
    assert.equal((await send(refused)).length, dead.length, "each is probed");
    assert.notEqual((await originState())?.status, "held", "their own probes don't count for the host");

    await rows(
      `insert into callback_origins (origin, status, held_since) values ($1, 'held', now())
       on conflict (origin) do update set status = 'held', held_since = now()`,
      [origin],
    );
    await record([working]);
    const [held] = await rows<{ id: string }>("select id from callback_origins where origin = $1", [origin]);
    await connected.queue.boss().insert(recoveries, [{ id: held?.id ?? "", data: { isOrigin: true } }]);
    await recover();
    assert.deepEqual(await send(delivered), [working?.id], "the one that works is the first probe");
    const schedule = (): Promise<object[]> =>
      rows("select id, start_after from pgboss.job where name = $1 and id = any ($2) order by id", [
        recoveries,
        dead.map(({ id }) => id),
      ]);
    const planned = await schedule();
    assert.equal(planned.length, dead.length);
    await runDueRecoveries({ ...connected, stopped: new AbortController().signal });
    assert.deepEqual(await schedule(), planned, "those that were held before keep their own schedule");
  });

  test("aren't held when responses are in between, even of requests that began before the first failure", async () => {
    const practices = await register(9);
    await record(practices);
    const settling = { ...connected, random: Math.random };
    for (const [nth, { job, delivery }] of (await claimReady()).entries()) {
      const settlement = { delivery, result: nth % 2 === 0 ? refused : delivered, isProbe: false, job };
      if (nth % 2 === 0) await settleFailed(settling, settlement);
      else await settleResponses(settling, await settleDelivered(settling, [settlement]));
    }
    assert.equal((await originState())?.status, "active");
  });

  test("get another probe when the callback of the probed one moves away", async () => {
    const practices = await register(6);
    await hold(practices);
    await recover();
    await rows("update organisations set callback_url = 'http://127.0.0.1:9' where id = $1", [practices[0]?.id]);
    assert.deepEqual(await send(refused), [practices[0]?.id], "the probe goes to its new host");
    const { planned } = (await originState()) ?? {};
    assert.ok(planned != null && planned <= 2 * (originProbeDelayMs / 1_000), `the next probe in ${planned} s`);
  });

  test("don't keep back a delivery whose request was in flight when its callback moved", async () => {
    const practices = await register(6);
    const moving = practices[5] ?? assert.fail();
    await record([moving]);
    const [inFlight] = await claimReady();
    assert.ok(inFlight !== undefined);
    await hold(practices);
    await rows("update organisations set callback_url = 'http://127.0.0.1:9' where id = $1", [moving.id]);
    const { job, delivery } = inFlight;
    await settleFailed({ ...connected, random: Math.random }, { delivery, result: refused, isProbe: false, job });
    assert.deepEqual(await statuses([moving]), ["queued"], "it is retried at the new host");
  });

  test("recover with one that became crowded or held while nothing was due to it", async () => {
    const practices = await register(7);
    const [crowded, alone] = [practices[5], practices[6]];
    await rows("update recipients set crowded = true where id = $1", [crowded?.id]);
    await rows("update recipients set status = 'held', held_since = now() where id = $1", [alone?.id]);
    await hold(practices);
    await connected.queue.boss().insert(
      recoveries,
      [crowded, alone].map((each) => ({ id: each?.id ?? "", data: {} })),
    );
    await recover();
    await send(delivered);
    await recover();
    await send(delivered);
    await recover();
    await record([crowded, alone]);
    assert.deepEqual(await statuses([crowded, alone].map((each) => each ?? assert.fail())), ["queued", "queued"]);
  });

  test("are sent to while events of others are settled, even if the host's row is locked", async () => {
    const practices = await register(6);
    const [elsewhere] = await register(1, "http://127.0.0.1:9");
    await record(practices.slice(0, 2));
    await send(refused);
    await record([practices[2], elsewhere]);
    const claimed = await claimReady();
    assert.equal(claimed.length, 2);
    const settlements = claimed.map(({ job, delivery }) => ({ delivery, result: delivered, isProbe: false, job }));
    await withClient(ownerUrl, async (client) => {
      await client.query("begin");
      await client.query("select from callback_origins where origin = $1 for update", [origin]);
      assert.deepEqual(await settleDelivered({ ...connected, random: Math.random }, settlements), [origin]);
      await client.query("commit");
    });
  });

  test("are queued up to a limit, so that a slow host doesn't delay others", async () => {
    const count = 30;
    const practices = await register(count);
    await hold(practices);
    await record(practices.slice(failuresToHold));
    await rows(
      `with happened as (
         insert into events (id, event, occurred_at, payload)
         select mint_uuid(), 'subscription.resumed', now(), '{}' from generate_series(1, $2) returning id
       )
       insert into deliveries (id, event_id, recipient_id, subscription_id, sequence, status, created_at)
       select mint_uuid(), id, $1, null, null, 'queued', now() from happened`,
      [practices.at(-1)?.id, maxQueuedPerRecipient - 5],
    );
    await recover();
    await send(delivered);
    await recover();
    assert.equal((await send(delivered)).length, 5);
  });

  test("miss no event that was being recorded when the host came back", async () => {
    const practices = await register(6);
    await hold(practices);
    let recovered: Promise<void> | undefined;
    await record([practices[5]], async () => {
      await recover();
      await send(delivered);
      assert.equal((await originState())?.status, "active");
      // The first step of the recovery waits for this transaction.
      recovered = recover();
      await eventually("the recovery waits", 30_000, async () => {
        const waiting = await rows("select from pg_locks where locktype = 'advisory' and not granted");
        return waiting.length > 0;
      });
    });
    await recovered;
    await send(delivered);
    assert.deepEqual(new Set(await statuses(practices)), new Set(["delivered"]));
  });

  test("let a practice go on at once whose callback moves to another host", async () => {
    const practices = await register(6);
    await hold(practices);
    const moved = practices[0] ?? assert.fail();
    await rows("update organisations set callback_url = 'http://127.0.0.1:9' where id = $1", [moved.id]);
    await connected.database
      .transaction()
      .execute((transaction) =>
        applyRecipientEvent(transaction, connected.queue, moved.id, { type: "callback-changed", at: new Date() }),
      );
    await runDueRecoveries({ ...connected, stopped: new AbortController().signal });
    assert.deepEqual(await send(delivered), [moved.id]);
  });

  test("get a probe from the sweep if it is lost, and the sweep queues nothing else for them", async () => {
    const practices = await register(6);
    await hold(practices);
    await rows("update deliveries set created_at = created_at - interval '1 hour' where settled_at is null");
    await rows("delete from pgboss.job where name = $1", [recoveries]);
    assert.equal(await sweepDeliveries(connected.database, connected.queue, new Date()), 1);
    assert.notEqual((await originState())?.planned, null);
    assert.equal(await sweepDeliveries(connected.database, connected.queue, new Date()), 0);
    assert.deepEqual(await send(delivered), []);
  });
});
