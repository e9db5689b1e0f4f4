import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, eventually } from "@ehr-marketplace/test-kit";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { recordPing } from "../events/record-event.ts";
import { delivered } from "./attempt-result.test-support.ts";
import { type Claimed, claim, fetchAndClaim } from "./claim.ts";
import type { DeliveryJob } from "./delivery-jobs.ts";
import { settleDelivered } from "./settle.ts";
import { releaseLostJobs, removeWorker, takeOverFromDeadWorkers, takeOverFromPredecessors } from "./take-over.ts";
import { insertWorker } from "./worker-store.ts";

describe("deliveries that a worker has fetched", () => {
  const cleanUp = cleanUpAfter();
  let connected: ServiceConnection<DB>;
  let recipientId: string;

  beforeEach(async () => {
    const cloned = await cloneDatabase(cleanUp, "demo");
    connected = await connectAsService<DB>(cleanUp, cloned.serviceUrl, { poolSize: 10 });
    const [practice] = await registerPractices(cloned.ownerUrl, { count: 1, callbackUrl: "http://127.0.0.1:9" });
    recipientId = practice?.id ?? "";
  });

  const run = async (text: string, ...values: unknown[]): Promise<object[]> =>
    (await connected.pool.query<object>(text, values)).rows;
  const recordPings = async (count: number): Promise<void> => {
    const { database, queue } = connected;
    const { id } = await database.selectFrom("vendors").select("id").limit(1).executeTakeFirstOrThrow();
    for (let nth = 0; nth < count; nth += 1) {
      await database
        .transaction()
        .execute((transaction) => recordPing(transaction, queue, { id: recipientId, vendor_id: id }, new Date()));
    }
  };
  const startSession = async (host = "elsewhere"): Promise<{ id: number; end: () => Promise<void> }> => {
    const client = await connected.pool.connect();
    let isReleased = false;
    const closeSession = (): void => {
      if (!isReleased) client.release(true);
      isReleased = true;
    };
    cleanUp(async () => closeSession());
    const end = async (): Promise<void> => {
      closeSession();
      const isOpen = `select from pg_locks join pg_database on pg_database.oid = database
        where datname = current_database() and locktype = 'advisory' and objid = $1`;
      await eventually("its session has ended", 30_000, async () => (await run(isOpen, id)).length === 0);
    };
    const id = await insertWorker(client, host);
    return { id, end };
  };
  const setHeartbeatAge = (id: number, seconds: number): Promise<object[]> =>
    run("update delivery_workers set heartbeat_at = now() - $2 * interval '1 second' where id = $1", id, seconds);
  /** Fetches as this worker. Claims all but the last `waiting`, which wait for a slot. */
  const fetchAs = async (workerId: number, waiting = 0): Promise<{ jobs: DeliveryJob[]; claimed: Claimed }> => {
    let jobs: DeliveryJob[] = [];
    const choose = (fetched: DeliveryJob[]): DeliveryJob[] => {
      jobs = fetched;
      return fetched.slice(0, fetched.length - waiting);
    };
    const claimed = await fetchAndClaim(connected, { limit: 100, ignoredRecipients: [] }, choose, workerId);
    return { jobs, claimed };
  };

  test("are taken over when its session has ended and its heartbeat is two seconds late", async () => {
    await recordPings(3);
    const worker = await startSession();
    assert.equal((await fetchAs(worker.id, 1)).jobs.length, 3);
    await worker.end();
    assert.equal(await takeOverFromDeadWorkers(connected), 0, "it may be about to connect again");
    await setHeartbeatAge(worker.id, 3);
    assert.equal(await takeOverFromDeadWorkers(connected), 3, "also those that wait for a slot");
    const other = await startSession();
    assert.equal((await fetchAs(other.id)).jobs.length, 3);
    assert.deepEqual(await run("select id from delivery_workers"), [{ id: other.id }]);
  });

  test("stay with a worker that is slow: its heartbeat is late, but its session lasts", async () => {
    await recordPings(1);
    const worker = await startSession();
    await fetchAs(worker.id);
    await setHeartbeatAge(worker.id, 14);
    assert.equal(await takeOverFromDeadWorkers(connected), 0);
  });

  test("are taken over from a worker that is silent for 15 s, although its session lasts; it can't settle them", async () => {
    await recordPings(2);
    const frozen = await startSession();
    const first = await fetchAs(frozen.id);
    await setHeartbeatAge(frozen.id, 16);
    assert.equal(await takeOverFromDeadWorkers(connected), 2);
    const other = await startSession();
    const second = await fetchAs(other.id);
    assert.equal(second.jobs.length, 2);

    const settle = async ({ jobs, claimed }: typeof first): Promise<void> => {
      const settlements = jobs.flatMap((job) => {
        const delivery = claimed.get(job.id);
        return delivery === undefined ? [] : [{ delivery, result: delivered, isProbe: false, job }];
      });
      await settleDelivered({ ...connected, random: Math.random }, settlements);
    };
    await settle(first);
    assert.deepEqual(await run("select distinct status from deliveries"), [{ status: "queued" }]);
    await settle(second);
    assert.deepEqual(await run("select distinct status from deliveries"), [{ status: "delivered" }]);
  });

  test("are taken over by a worker that starts on the same host, only from its predecessors there", async () => {
    await recordPings(2);
    const [dead, alive, elsewhere] = [await startSession("here"), await startSession("here"), await startSession()];
    await fetchAs(dead.id);
    await dead.end();
    await elsewhere.end();
    for (const { id } of [dead, alive, elsewhere]) await setHeartbeatAge(id, 3);
    assert.equal(await takeOverFromPredecessors(connected, "here"), 2);
    const left = await run("select id from delivery_workers order by id");
    assert.deepEqual(left, [{ id: alive.id }, { id: elsewhere.id }]);
  });

  test("are taken over once, however many workers try", async () => {
    await recordPings(5);
    const worker = await startSession();
    await fetchAs(worker.id);
    await worker.end();
    await setHeartbeatAge(worker.id, 3);
    const taken = await Promise.all(Array.from({ length: 4 }, () => takeOverFromDeadWorkers(connected)));
    assert.deepEqual(
      taken.toSorted((one, other) => other - one),
      [5, 0, 0, 0],
    );
  });

  test("are released if it doesn't process them, unless they were fetched again meanwhile", async () => {
    await recordPings(2);
    const worker = await startSession();
    const { jobs } = await fetchAs(worker.id);
    const [lost] = jobs;
    assert.ok(lost !== undefined);
    await releaseLostJobs(connected, [lost]);
    const again = await fetchAs(worker.id);
    assert.deepEqual(
      again.jobs.map(({ id }) => id),
      [lost.id],
    );
    await releaseLostJobs(connected, [lost]);
    assert.deepEqual((await fetchAs(worker.id)).jobs, [], "it belongs to the newer fetch");
  });

  test("are released when it stops, without a log of dead workers", async () => {
    await recordPings(3);
    const worker = await startSession();
    await fetchAs(worker.id, 2);
    await worker.end();
    await removeWorker(connected, worker.id);
    assert.deepEqual(await run("select id from delivery_workers"), []);
    const other = await startSession();
    assert.equal((await fetchAs(other.id)).jobs.length, 3);
  });

  test("can't be claimed by it once another worker has taken them over", async () => {
    await recordPings(1);
    const worker = await startSession();
    const { jobs } = await fetchAs(worker.id, 1);
    await worker.end();
    await setHeartbeatAge(worker.id, 3);
    await takeOverFromDeadWorkers(connected);
    const other = await startSession();
    assert.equal((await fetchAs(other.id)).claimed.size, 1);
    assert.equal((await claim(connected, jobs, worker.id)).size, 0);
    assert.equal((await claim(connected, jobs, other.id)).size, 1, "the owner can");
  });
});
