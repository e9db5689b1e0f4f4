import assert from "node:assert/strict";
import { before, beforeEach, describe, test } from "node:test";
import type { ReplayDto, StartReplayBody } from "@ehr-marketplace/contracts";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { dropDeletedEndpointDeliveries } from "../delivery/drop-deleted-endpoint-deliveries.ts";
import { deleteEndpoint } from "../endpoints/change-endpoint.ts";
import { recordEvent } from "../events/record-event.ts";
import { replays } from "../queue/queues.ts";
import { cancelReplay, getReplay, startReplay } from "./manage-replays.ts";
import {
  createEndpointWithHistory,
  developer,
  minute,
  type Replayground,
  startReplayground,
} from "./replay.test-support.ts";
import { maxReady, runReplayStep } from "./run-replay-step.ts";

interface DeliveryState {
  id: string;
  subscription_id: string | null;
  sequence: number | null;
  status: string;
  attempts: number;
  created_at: Date;
}

const northwindScribe = {
  id: "0198f3a0-0000-7000-8000-000000000000",
  slug: "northwind-scribe",
  name: "Northwind Scribe",
  iconUrl: "https://northwind-health.example/icon.svg",
  category: "CLINICAL",
  extensionPoints: [],
  smartLaunchUrl: null,
  fhirScopes: "",
};
const everything = { from: minute(0), to: minute(100_000) };

describe("a replay, step by step", () => {
  const cleanUp = cleanUpAfter();
  let ground: Replayground;
  before(async () => {
    const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "demo");
    await registerPractices(ownerUrl, { count: 100, callbackUrl: "http://127.0.0.1:9" });
    ground = await startReplayground(cleanUp, {
      serviceUrl,
      query: <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
        withClient(ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]),
      encryption: createEncryption(parseEncryptionKeys(developmentEncryptionKeys)),
    });
  });
  beforeEach(async () => {
    await ground.query("update replays set status = 'cancelled' where status = 'running'");
    await ground.query("delete from pgboss.job where name in ('deliveries', 'replays')");
    // A replay covers all events of the vendor's apps.
    await ground.query("delete from deliveries");
    await ground.query("delete from events");
  });

  const start = (endpointId: string, body: StartReplayBody): Promise<ReplayDto> =>
    startReplay(ground, developer, endpointId, body, { key: undefined, method: "POST", path: "/", body });
  const progress = (endpointId: string, { id }: ReplayDto): Promise<ReplayDto> =>
    getReplay(ground.database, developer, { endpointId, replayId: id });
  const readDeliveries = (endpointId: string): Promise<DeliveryState[]> =>
    ground.query("select * from deliveries where recipient_id = $1 order by created_at, id", endpointId);
  const countOf = async (endpointId: string, status: string): Promise<number> =>
    (await readDeliveries(endpointId)).filter((each) => each.status === status).length;
  const jobs = (): Promise<{ id: string }[]> => ground.query("select id from pgboss.job where name = 'replays'");

  test("sends each delivery in its range once, and no other", async () => {
    const endpoint = await createEndpointWithHistory(ground, { subscriptions: 30, perSubscription: 6, pings: 6 });
    const replay = await start(endpoint, { from: minute(1), to: minute(5) });
    assert.deepEqual(
      { ...replay, id: "", createdAt: "", updatedAt: "" },
      {
        id: "",
        status: "running",
        failures: false,
        from: minute(1),
        to: minute(5),
        total: 31 * 4,
        done: 0,
        createdAt: "",
        updatedAt: "",
      },
    );
    const sent: string[] = [];
    for (let steps = 0; (await progress(endpoint, replay)).status === "running"; steps += 1) {
      assert.ok(steps < 20, "it doesn't end");
      await ground.step();
      sent.push(...(await ground.deliver()));
    }
    const after = await readDeliveries(endpoint);
    const expected = after.filter(
      (each) => each.created_at >= new Date(minute(1)) && each.created_at < new Date(minute(5)),
    );
    assert.equal(expected.length, 31 * 4);
    assert.deepEqual(sent.toSorted(), expected.map(({ id }) => id).toSorted());
    for (const each of after) {
      assert.equal(each.attempts, expected.includes(each) ? 2 : 1);
      assert.equal(each.status, "delivered");
    }
    assert.equal((await progress(endpoint, replay)).done, replay.total);
    assert.deepEqual(await jobs(), []);
  });

  test("keeps the order within each subscription", async () => {
    const endpoint = await createEndpointWithHistory(ground, { subscriptions: 3, perSubscription: 15 });
    await start(endpoint, everything);
    await ground.step();
    assert.deepEqual([await countOf(endpoint, "queued"), await countOf(endpoint, "waiting")], [3, 42]);
    const sent = await ground.deliver();
    const byId = new Map((await readDeliveries(endpoint)).map((each) => [each.id, each]));
    const bySubscription = Map.groupBy(
      sent.map((id) => byId.get(id)),
      (each) => each?.subscription_id,
    );
    assert.equal(bySubscription.size, 3);
    for (const group of bySubscription.values()) {
      assert.deepEqual(
        group.map((each) => each?.sequence),
        Array.from({ length: 15 }, (_, index) => index + 1),
      );
    }
  });

  test("a new event waits only behind replayed ones of its own subscription", async () => {
    const endpoint = await createEndpointWithHistory(ground, { subscriptions: 2, perSubscription: 3 });
    const [first, second] = [...new Set((await readDeliveries(endpoint)).map((each) => each.subscription_id ?? ""))];
    assert.ok(first !== undefined && second !== undefined);
    await ground.query(
      "update deliveries set status = 'dropped' where recipient_id = $1 and subscription_id = $2",
      endpoint,
      second,
    );
    await start(endpoint, everything);
    await ground.step();
    for (const subscription of [first, second]) await record(subscription, 4);
    const fresh = (await readDeliveries(endpoint)).filter((each) => each.sequence === 4);
    assert.deepEqual(
      new Map(fresh.map((each) => [each.subscription_id, each.status])),
      new Map([
        [first, "waiting"],
        [second, "queued"],
      ]),
    );
    const sent = await ground.deliver();
    const ofFirst = (await readDeliveries(endpoint))
      .filter((each) => each.subscription_id === first)
      .toSorted((a, b) => sent.indexOf(a.id) - sent.indexOf(b.id));
    assert.deepEqual(
      ofFirst.map((each) => [each.sequence, each.status]),
      [1, 2, 3, 4].map((sequence) => [sequence, "delivered"]),
    );
  });

  async function record(subscriptionId: string, sequence: number): Promise<void> {
    const [owner] = await ground.query<{ organisation_id: string; vendor_id: string }>(
      "select organisation_id, vendor_id from subscriptions join apps on apps.id = app_id where subscriptions.id = $1",
      subscriptionId,
    );
    assert.ok(owner);
    await ground.database.transaction().execute((transaction) =>
      recordEvent(transaction, ground.queue, {
        event: "subscription.paused",
        app: northwindScribe,
        subscription: { id: subscriptionId, status: "paused", orgAlias: "practice" },
        pauseReason: "SECURITY",
        organisationId: owner.organisation_id,
        vendorId: owner.vendor_id,
        sequence,
        occurredAt: new Date(),
      }),
    );
  }

  test("limits ready deliveries, however slow the recipient is", async () => {
    const endpoint = await createEndpointWithHistory(ground, { subscriptions: 90, perSubscription: 1 });
    const replay = await start(endpoint, everything);
    await ground.step();
    assert.equal(await countOf(endpoint, "queued"), maxReady);
    await ground.step();
    assert.equal(await countOf(endpoint, "queued"), maxReady, "nothing was delivered meanwhile");
    await ground.deliver(20);
    await ground.step();
    assert.equal(await countOf(endpoint, "queued"), maxReady);
    assert.equal((await progress(endpoint, replay)).done, maxReady + 20);
  });

  test("deliveries that wait for a retry don't block others", async () => {
    const endpoint = await createEndpointWithHistory(ground, { subscriptions: 70, perSubscription: 1 });
    const replay = await start(endpoint, everything);
    await ground.step();
    await ground.query(
      "update deliveries set next_attempt_at = now() + interval '1 day' where recipient_id = $1 and status = 'queued'",
      endpoint,
    );
    await ground.step();
    assert.deepEqual([await countOf(endpoint, "queued"), (await progress(endpoint, replay)).status], [70, "done"]);
  });

  for (const status of ["held", "disabled"]) {
    test(`pauses while its endpoint is ${status}, and continues afterwards`, async () => {
      const endpoint = await createEndpointWithHistory(ground, { subscriptions: 3, perSubscription: 1 });
      const replay = await start(endpoint, everything);
      const [at, because] = status === "disabled" ? [new Date(), "a test"] : [null, null];
      await ground.query(
        "update recipients set status = $2, held_since = now(), disabled_at = $3, disabled_reason = $4 where id = $1",
        endpoint,
        status,
        at,
        because,
      );
      await ground.step();
      assert.deepEqual((await progress(endpoint, replay)).done, 0);
      assert.equal(await countOf(endpoint, "delivered"), 3);
      await ground.query(
        "update recipients set status = 'active', held_since = null, disabled_at = null, disabled_reason = null where id = $1",
        endpoint,
      );
      await ground.step();
      assert.deepEqual(await progress(endpoint, replay), {
        ...replay,
        status: "done",
        done: 3,
        updatedAt: (await progress(endpoint, replay)).updatedAt,
      });
      assert.equal(await countOf(endpoint, "queued"), 3);
    });
  }

  test("of failures sends failed and expired deliveries, and resets their failure count", async () => {
    const endpoint = await createEndpointWithHistory(ground, { subscriptions: 4, perSubscription: 3 });
    await ground.query(
      `update deliveries set failures = 12, status = case sequence when 1 then 'failed' else 'expired' end
       where recipient_id = $1 and sequence in (1, 2)`,
      endpoint,
    );
    const replay = await start(endpoint, { failures: true });
    assert.deepEqual([replay.failures, replay.from, replay.to, replay.total], [true, null, replay.createdAt, 8]);
    await ground.step();
    const left = await ground.query("select from deliveries where recipient_id = $1 and failures > 0", endpoint);
    assert.equal(left.length, 0);
    await ground.deliver();
    assert.deepEqual(
      (await readDeliveries(endpoint))
        .map((each) => [each.sequence, each.attempts])
        .toSorted(([a], [b]) => Number(a) - Number(b)),
      [1, 2, 3].flatMap((sequence) => Array.from({ length: 4 }, () => [sequence, sequence === 3 ? 1 : 2])),
    );
  });

  test("skips unsettled and dropped deliveries", async () => {
    const endpoint = await createEndpointWithHistory(ground, { subscriptions: 4, perSubscription: 1 });
    const [waiting, queued, dropped, delivered] = await readDeliveries(endpoint);
    const become = (id: string | undefined, status: string, over: boolean): Promise<unknown> =>
      ground.query(
        "update deliveries set status = $2, failures = 3, settled_at = case when $3 then now() end where id = $1",
        id,
        status,
        over,
      );
    await become(waiting?.id, "waiting", false);
    await become(queued?.id, "queued", false);
    await become(dropped?.id, "dropped", true);
    const replay = await start(endpoint, everything);
    assert.equal(replay.total, 1);
    await ground.step();
    assert.equal((await progress(endpoint, replay)).done, 1);
    const statuses = await ground.query(
      "select id, status, failures from deliveries where recipient_id = $1 order by created_at, id",
      endpoint,
    );
    assert.deepEqual(statuses, [
      { id: waiting?.id, status: "waiting", failures: 3 },
      { id: queued?.id, status: "queued", failures: 3 },
      { id: dropped?.id, status: "dropped", failures: 3 },
      { id: delivered?.id, status: "queued", failures: 0 },
    ]);
  });

  test("a step that two workers have fetched runs once", async () => {
    const endpoint = await createEndpointWithHistory(ground, { subscriptions: 90, perSubscription: 1 });
    const replay = await start(endpoint, everything);
    const { id } = replay;
    const boss = ground.queue.boss();
    assert.equal((await boss.fetch(replays)).length, 1);
    await Promise.all([0, 1].map(() => runReplayStep(ground, { id, retryCount: 0 })));
    await ground.deliver();
    await runReplayStep(ground, { id, retryCount: 0 });
    assert.equal((await progress(endpoint, replay)).done, maxReady);
    assert.equal(await countOf(endpoint, "queued"), 0);
    assert.deepEqual(await jobs(), [{ id }]);
  });

  test("stops when it is cancelled, also when a worker has fetched its next step", async () => {
    const endpoint = await createEndpointWithHistory(ground, { subscriptions: 90, perSubscription: 1 });
    const replay = await start(endpoint, everything);
    await ground.step();
    await ground.deliver();
    await ground.query("update pgboss.job set start_after = now() where name = 'replays'");
    const boss = ground.queue.boss();
    assert.equal((await boss.fetch(replays)).length, 1);
    const cancelled = await cancelReplay(ground, developer, { endpointId: endpoint, replayId: replay.id });
    assert.deepEqual([cancelled.status, cancelled.done], ["cancelled", maxReady]);
    await runReplayStep(ground, { id: replay.id, retryCount: 0 });
    await ground.step();
    assert.equal(await countOf(endpoint, "queued"), 0);
    assert.deepEqual(await jobs(), []);
    assert.deepEqual(await progress(endpoint, replay), cancelled);
  });

  test("stops when its endpoint is deleted", async () => {
    const endpoint = await createEndpointWithHistory(ground, { subscriptions: 60, perSubscription: 1 });
    const replay = await start(endpoint, everything);
    await ground.step();
    await deleteEndpoint(ground, developer, endpoint);
    await dropDeletedEndpointDeliveries(ground, new Date());
    assert.equal(await countOf(endpoint, "dropped"), maxReady);
    await ground.step();
    assert.deepEqual([await countOf(endpoint, "delivered"), await countOf(endpoint, "queued")], [10, 0]);
    const [row] = await ground.query<{ status: string }>("select status from replays where id = $1", replay.id);
    assert.equal(row?.status, "cancelled");
    assert.deepEqual(await jobs(), []);
  });

  test("estimates its total above the exact count", async () => {
    const endpoint = await createEndpointWithHistory(ground, { subscriptions: 60, perSubscription: 200 });
    await ground.query("analyze events");
    const { total } = await start(endpoint, everything);
    assert.ok(total > 10_000 && total < 15_000, `12,000, give or take: ${total}`);
  });
});
