import assert from "node:assert/strict";
import { before, beforeEach, describe, test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { deliveries, recoveries } from "../queue/queues.ts";
import { scheduleRecovery } from "../recipients/recovery-jobs.ts";
import { delivered } from "./attempt-result.test-support.ts";
import type { AttemptResult } from "./attempt-result.ts";
import { returnUnclaimedJobs } from "./claim.ts";
import { type ClaimedDelivery, claimDeliveries } from "./claim-store.ts";
import { type DeliveryJob, insertJobs } from "./delivery-jobs.ts";
import { recoverRecipient } from "./recover-recipient.ts";
import { settleDelivered, settleFailed } from "./settle.ts";
import { sweepDeliveries } from "./sweep.ts";

type Connected = Awaited<ReturnType<typeof connectAsService<DB>>>;
const failed: AttemptResult = { ...delivered, outcome: "failed", statusCode: 500, error: "500" };

describe("a held recipient", () => {
  const cleanUp = cleanUpAfter();
  let ownerUrl: string;
  let connected: Connected;
  let practices: { id: string; alias: string }[];
  let nth = 0;
  let recipient: string;
  let due: string[];
  const rows = async <T extends object>(sql: string, values: unknown[] = []): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(sql, values))).rows;

  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = cloned);
    connected = await connectAsService<DB>(cleanUp, cloned.serviceUrl);
    practices = await registerPractices(ownerUrl, { count: 20, callbackUrl: "http://127.0.0.1:9" });
  });

  /** A practice whose EHR has three deliveries due, of different subscriptions. */
  const prepare = async (event: string): Promise<void> => {
    recipient = practices[nth]?.id ?? "";
    nth += 1;
    await rows("delete from pgboss.job where name = any ($1)", [[deliveries, recoveries]]);
    await rows("update deliveries set status = 'expired', settled_at = now() where settled_at is null");
    const made = await rows<{ id: string }>(
      `with happened as (
         insert into events (id, event, occurred_at, payload)
         select mint_uuid(), $2, now(), '{}' from generate_series(1, 3) returning id
       )
       insert into deliveries (id, event_id, recipient_id, status, created_at)
       select mint_uuid(), id, $1, 'waiting', now() - interval '1 hour' from happened returning id`,
      [recipient, event],
    );
    due = made.map(({ id }) => id).toSorted();
    await rows("update recipients set status = 'held', held_since = now(), consecutive_failures = 5 where id = $1", [
      recipient,
    ]);
  };
  beforeEach(() => prepare("subscription.created"));

  const stateOf = async (): Promise<{ status: string; consecutive_failures: number } | undefined> =>
    (
      await rows<{ status: string; consecutive_failures: number }>(
        "select status, consecutive_failures from recipients where id = $1",
        [recipient],
      )
    )[0];
  const jobsIn = async (name: string): Promise<string[]> =>
    (await rows<{ id: string }>("select id from pgboss.job where name = $1 and state < 'active'", [name])).map(
      ({ id }) => id,
    );
  /** Runs the next step of its recovery without waiting for its time. */
  const recover = async (): Promise<void> => {
    const { database, queue } = connected;
    await database
      .transaction()
      .execute((transaction) => scheduleRecovery(transaction, queue, recipient, { startAfter: new Date() }));
    const boss = queue.boss();
    const [job] = await boss.fetch(recoveries);
    assert.equal(job?.id, recipient);
    await recoverRecipient(connected, { id: recipient, retryCount: 0 });
  };
  /** Fetches and claims the deliveries that are ready. */
  const fetched = async (): Promise<{ job: DeliveryJob; claimed: ClaimedDelivery | undefined } | undefined> => {
    const boss = connected.queue.boss();
    const [job] = await boss.fetch<DeliveryJob["data"]>(deliveries, { includeMetadata: true });
    if (job === undefined) return undefined;
    const [claimed] = await claimDeliveries(connected.database, {
      ids: [job.id],
      probes: [job.id],
      workerId: null,
      now: new Date(),
    });
    return { job, claimed };
  };
  const probe = async (result: AttemptResult): Promise<string> => {
    await recover();
    const out = await fetched();
    assert.ok(out?.claimed !== undefined);
    const settling = { ...connected, random: Math.random };
    const settlement = { delivery: out.claimed, result, isProbe: true, job: { id: out.job.id, retryCount: 0 } };
    if (result.outcome === "delivered") await settleDelivered(settling, [settlement]);
    else await settleFailed(settling, settlement);
    return out.job.id;
  };

  test("is probed by each delivery in turn, oldest first, so one that always fails doesn't prevent recovery", async () => {
    const probed = [await probe(failed), await probe(failed), await probe(failed), await probe(failed)];
    assert.deepEqual(probed, [due[0], due[1], due[2], due[0]]);
    const failures = await rows<{ failures: number }>("select failures from deliveries where recipient_id = $1", [
      recipient,
    ]);
    assert.deepEqual(
      failures.map((each) => each.failures),
      [0, 0, 0],
      "probes don't count",
    );
    assert.equal((await stateOf())?.status, "held");
    assert.equal(await probe(delivered), due[1]);
    assert.deepEqual(await stateOf(), { status: "active", consecutive_failures: 0 });
  });

  test("isn't probed for ever, nor later, by an event that it needn't know", async () => {
    await prepare("subscription.resumed");
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      for (const id of due) assert.equal(await probe(failed), id);
    }
    const settled = await rows("select status, failures from deliveries where recipient_id = $1", [recipient]);
    assert.deepEqual(
      settled,
      due.map(() => ({ status: "failed", failures: 3 })),
    );
    assert.deepEqual(await rows("select probes, consecutive_failures from recipients where id = $1", [recipient]), [
      { probes: 0, consecutive_failures: 5 },
    ]);
    await recover();
    assert.equal((await stateOf())?.status, "active", "nothing is left that it refuses");
  });

  test("has no next attempt time in the log", async () => {
    const id = await probe(failed);
    const attempts = await rows("select outcome, next_attempt_at from delivery_attempts where delivery_id = $1", [id]);
    assert.deepEqual(attempts, [{ outcome: "failed", next_attempt_at: null }]);
  });

  test("leaves no next attempt time at a retry that waits for it", async () => {
    const { database, queue } = connected;
    const [id = ""] = due;
    await rows("update deliveries set status = 'queued', next_attempt_at = now() where id = $1", [id]);
    await database
      .transaction()
      .execute((transaction) => insertJobs(transaction, queue, [{ id, recipient_id: recipient }]));
    const boss = queue.boss();
    await returnUnclaimedJobs(connected, await boss.fetch<DeliveryJob["data"]>(deliveries, { includeMetadata: true }));
    assert.deepEqual(await rows("select status, next_attempt_at from deliveries where id = $1", [id]), [
      { status: "waiting", next_attempt_at: null },
    ]);
  });

  test("stays held without a callback, also when nothing is due or a request is in flight", async () => {
    await rows("update organisations set callback_url = null where id = $1", [recipient]);
    await recover();
    assert.deepEqual(await jobsIn(deliveries), []);
    await rows("update deliveries set status = 'expired', settled_at = now() where recipient_id = $1", [recipient]);
    await recover();
    assert.equal((await stateOf())?.status, "held");
    assert.deepEqual(await jobsIn(recoveries), []);
  });

  test("stays held when its callback is removed while a successful probe is in flight", async () => {
    await recover();
    const out = await fetched();
    assert.ok(out?.claimed !== undefined);
    await rows("update organisations set callback_url = null where id = $1", [recipient]);
    const settlement = {
      delivery: out.claimed,
      result: delivered,
      isProbe: true,
      job: { id: out.job.id, retryCount: 0 },
    };
    await settleDelivered({ ...connected, random: Math.random }, [settlement]);
    assert.equal((await stateOf())?.status, "held");
    assert.deepEqual(await jobsIn(deliveries), []);
  });

  test("is found by the sweep only when it has neither a probe nor a recovery job", async () => {
    const { database, queue } = connected;
    assert.equal(await sweepDeliveries(database, queue, new Date()), 1);
    assert.deepEqual(await jobsIn(recoveries), [recipient]);
    assert.equal(await sweepDeliveries(database, queue, new Date()), 0, "its recovery is planned");
    await recover();
    assert.equal(await sweepDeliveries(database, queue, new Date()), 0, "its probe waits");
    await fetched();
    assert.equal(await sweepDeliveries(database, queue, new Date()), 0, "its probe is in flight");
  });

  test("keeps its replaced job when a worker whose lease expired settles the old one", async () => {
    const { database, queue } = connected;
    const boss = queue.boss();
    const fetchOne = async (): Promise<DeliveryJob> => {
      const [id = ""] = due;
      await rows("update deliveries set status = 'queued' where id = $1", [id]);
      await database
        .transaction()
        .execute((transaction) => insertJobs(transaction, queue, [{ id, recipient_id: recipient }]));
      const [job] = await boss.fetch<DeliveryJob["data"]>(deliveries, { includeMetadata: true });
      assert.ok(job !== undefined);
      return job;
    };
    const delivery = async (): Promise<object | undefined> =>
      (
        await rows(
          `select d.status, j.state, j.start_after > j.created_on as later from deliveries d
           left join pgboss.job j on j.name = $2 and j.id = d.id where d.id = $1`,
          [due[0], deliveries],
        )
      )[0];
    const early = await fetchOne();
    await boss.deleteJob(deliveries, early.id);
    const late = await fetchOne();
    assert.deepEqual([late.id, late.retryCount], [early.id, early.retryCount]);
    await returnUnclaimedJobs(connected, [early]);
    assert.deepEqual(await delivery(), { status: "queued", state: "active", later: false }, "it is another's");
    await returnUnclaimedJobs(connected, [late]);
    assert.deepEqual(await delivery(), { status: "waiting", state: null, later: null }, "it waits with its recipient");
    await rows("update recipients set status = 'active', held_since = null where id = $1", [recipient]);
    await returnUnclaimedJobs(connected, [await fetchOne()]);
    assert.deepEqual(
      await delivery(),
      { status: "queued", state: "created", later: true },
      "it is queued with a delay",
    );
  });
});
