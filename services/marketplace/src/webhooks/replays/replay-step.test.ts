import assert from "node:assert/strict";
import { before, beforeEach, describe, test } from "node:test";
import type { ReplayDto, StartReplayBody } from "@ehr-marketplace/contracts";
import { withClient } from "@ehr-marketplace/dev/postgres";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createSeal, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, cloneDatabase, registerPractices } from "@ehr-marketplace/tests/support";
import { replays } from "../../queue/queues.ts";
import { deleteEndpoint } from "../endpoints/change-endpoint.ts";
import { dropDueToDeleted } from "../endpoints/drop-due-to-deleted.ts";
import { recordEvent } from "../events/record-event.ts";
import { cancelReplay, getReplay, startReplay } from "./manage-replays.ts";
import { developer, minute, type Replayground, startReplayground, toldEndpoint } from "./replay.test-support.ts";
import { mostReady, runReplayStep } from "./replay-step.ts";

interface Told {
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
      ask: <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
        withClient(ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]),
      seal: createSeal(parseEncryptionKeys(developmentEncryptionKeys)),
    });
  });
  beforeEach(async () => {
    await ground.ask("update replays set status = 'cancelled' where status = 'running'");
    await ground.ask("delete from pgboss.job where name in ('deliveries', 'replays')");
    // A replay is of all that its vendor's apps had, whomever it was told to.
    await ground.ask("delete from deliveries");
    await ground.ask("delete from events");
  });

  const start = (endpointId: string, body: StartReplayBody): Promise<ReplayDto> =>
    startReplay(ground, developer, endpointId, body, { key: undefined, method: "POST", path: "/", body });
  const progress = (endpointId: string, { id }: ReplayDto): Promise<ReplayDto> =>
    getReplay(ground.database, developer, { endpointId, replayId: id });
  const told = (endpointId: string): Promise<Told[]> =>
    ground.ask("select * from deliveries where recipient_id = $1 order by created_at, id", endpointId);
  const countOf = async (endpointId: string, status: string): Promise<number> =>
    (await told(endpointId)).filter((each) => each.status === status).length;
  const jobs = (): Promise<{ id: string }[]> => ground.ask("select id from pgboss.job where name = 'replays'");

  test("sends everything in its range again, once, and nothing else", async () => {
    const endpoint = await toldEndpoint(ground, { lanes: 30, perLane: 6, pings: 6 });
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
    const after = await told(endpoint);
    const wanted = after.filter(
      (each) => each.created_at >= new Date(minute(1)) && each.created_at < new Date(minute(5)),
    );
    assert.equal(wanted.length, 31 * 4);
    assert.deepEqual(sent.toSorted(), wanted.map(({ id }) => id).toSorted());
    for (const each of after) {
      assert.equal(each.attempts, wanted.includes(each) ? 2 : 1);
      assert.equal(each.status, "delivered");
    }
    assert.equal((await progress(endpoint, replay)).done, replay.total);
    assert.deepEqual(await jobs(), []);
  });

  test("keeps the order of each subscription, though all of its events wait at once", async () => {
    const endpoint = await toldEndpoint(ground, { lanes: 3, perLane: 15 });
    await start(endpoint, everything);
    await ground.step();
    assert.deepEqual([await countOf(endpoint, "queued"), await countOf(endpoint, "waiting")], [3, 42]);
    const sent = await ground.deliver();
    const byId = new Map((await told(endpoint)).map((each) => [each.id, each]));
    const places = Map.groupBy(
      sent.map((id) => byId.get(id)),
      (each) => each?.subscription_id,
    );
    assert.equal(places.size, 3);
    for (const lane of places.values()) {
      assert.deepEqual(
        lane.map((each) => each?.sequence),
        Array.from({ length: 15 }, (_, index) => index + 1),
      );
    }
  });

  test("a new event waits behind the old ones of its own subscription, and of no other", async () => {
    const endpoint = await toldEndpoint(ground, { lanes: 2, perLane: 3 });
    const [first, second] = [...new Set((await told(endpoint)).map((each) => each.subscription_id ?? ""))];
    assert.ok(first !== undefined && second !== undefined);
    await ground.ask(
      "update deliveries set status = 'dropped' where recipient_id = $1 and subscription_id = $2",
      endpoint,
      second,
    );
    await start(endpoint, everything);
    await ground.step();
    for (const subscription of [first, second]) await record(subscription, 4);
    const fresh = (await told(endpoint)).filter((each) => each.sequence === 4);
    assert.deepEqual(
      new Map(fresh.map((each) => [each.subscription_id, each.status])),
      new Map([
        [first, "waiting"],
        [second, "queued"],
      ]),
    );
    const sent = await ground.deliver();
    const ofFirst = (await told(endpoint))
      .filter((each) => each.subscription_id === first)
      .toSorted((a, b) => sent.indexOf(a.id) - sent.indexOf(b.id));
    assert.deepEqual(
      ofFirst.map((each) => [each.sequence, each.status]),
      [1, 2, 3, 4].map((sequence) => [sequence, "delivered"]),
    );
  });

  async function record(subscriptionId: string, sequence: number): Promise<void> {
    const [owner] = await ground.ask<{ organisation_id: string; vendor_id: string }>(
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

  test("lets no more than a few be ready at once, however slow the recipient is", async () => {
    const endpoint = await toldEndpoint(ground, { lanes: 90, perLane: 1 });
    const replay = await start(endpoint, everything);
    await ground.step();
    assert.equal(await countOf(endpoint, "queued"), mostReady);
    await ground.step();
    assert.equal(await countOf(endpoint, "queued"), mostReady, "nothing was delivered meanwhile");
    await ground.deliver(20);
    await ground.step();
    assert.equal(await countOf(endpoint, "queued"), mostReady);
    assert.equal((await progress(endpoint, replay)).done, mostReady + 20);
  });

  test("those that wait for their next attempt keep no other back", async () => {
    const endpoint = await toldEndpoint(ground, { lanes: 70, perLane: 1 });
    const replay = await start(endpoint, everything);
    await ground.step();
    await ground.ask(
      "update deliveries set next_attempt_at = now() + interval '1 day' where recipient_id = $1 and status = 'queued'",
      endpoint,
    );
    await ground.step();
    assert.deepEqual([await countOf(endpoint, "queued"), (await progress(endpoint, replay)).status], [70, "done"]);
  });

  for (const status of ["held", "disabled"]) {
    test(`takes no step while its endpoint is ${status}, and goes on afterwards`, async () => {
      const endpoint = await toldEndpoint(ground, { lanes: 3, perLane: 1 });
      const replay = await start(endpoint, everything);
      const [at, because] = status === "disabled" ? [new Date(), "a test"] : [null, null];
      await ground.ask(
        "update recipients set status = $2, held_since = now(), disabled_at = $3, disabled_because = $4 where id = $1",
        endpoint,
        status,
        at,
        because,
      );
      await ground.step();
      assert.deepEqual((await progress(endpoint, replay)).done, 0);
      assert.equal(await countOf(endpoint, "delivered"), 3);
      await ground.ask(
        "update recipients set status = 'active', held_since = null, disabled_at = null, disabled_because = null where id = $1",
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

  test("of failures sends again what failed and what expired, and begins to count their failures anew", async () => {
    const endpoint = await toldEndpoint(ground, { lanes: 4, perLane: 3 });
    await ground.ask(
      `update deliveries set failures = 12, status = case sequence when 1 then 'failed' else 'expired' end
       where recipient_id = $1 and sequence in (1, 2)`,
      endpoint,
    );
    const replay = await start(endpoint, { failures: true });
    assert.deepEqual([replay.failures, replay.from, replay.to, replay.total], [true, null, replay.createdAt, 8]);
    await ground.step();
    const left = await ground.ask("select from deliveries where recipient_id = $1 and failures > 0", endpoint);
    assert.equal(left.length, 0);
    await ground.deliver();
    assert.deepEqual(
      (await told(endpoint))
        .map((each) => [each.sequence, each.attempts])
        .toSorted(([a], [b]) => Number(a) - Number(b)),
      [1, 2, 3].flatMap((sequence) => Array.from({ length: 4 }, () => [sequence, sequence === 3 ? 1 : 2])),
    );
  });

  test("leaves what is under way as it is, and never sends what was dropped", async () => {
    const endpoint = await toldEndpoint(ground, { lanes: 4, perLane: 1 });
    const [waiting, queued, dropped, delivered] = await told(endpoint);
    const become = (id: string | undefined, status: string, over: boolean): Promise<unknown> =>
      ground.ask(
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
    const statuses = await ground.ask(
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

  test("a step that two workers have in their hands is taken once, however late the other comes", async () => {
    const endpoint = await toldEndpoint(ground, { lanes: 90, perLane: 1 });
    const replay = await start(endpoint, everything);
    const { id } = replay;
    const boss = ground.queue.boss();
    assert.equal((await boss.fetch(replays)).length, 1);
    await Promise.all([0, 1].map(() => runReplayStep(ground, { id, retryCount: 0 })));
    await ground.deliver();
    await runReplayStep(ground, { id, retryCount: 0 });
    assert.equal((await progress(endpoint, replay)).done, mostReady);
    assert.equal(await countOf(endpoint, "queued"), 0);
    assert.deepEqual(await jobs(), [{ id }]);
  });

  test("that is cancelled goes no further, also where a worker has its next step in its hands already", async () => {
    const endpoint = await toldEndpoint(ground, { lanes: 90, perLane: 1 });
    const replay = await start(endpoint, everything);
    await ground.step();
    await ground.deliver();
    await ground.ask("update pgboss.job set start_after = now() where name = 'replays'");
    const boss = ground.queue.boss();
    assert.equal((await boss.fetch(replays)).length, 1);
    const cancelled = await cancelReplay(ground, developer, { endpointId: endpoint, replayId: replay.id });
    assert.deepEqual([cancelled.status, cancelled.done], ["cancelled", mostReady]);
    await runReplayStep(ground, { id: replay.id, retryCount: 0 });
    await ground.step();
    assert.equal(await countOf(endpoint, "queued"), 0);
    assert.deepEqual(await jobs(), []);
    assert.deepEqual(await progress(endpoint, replay), cancelled);
  });

  test("of an endpoint that is deleted meanwhile sends nothing more", async () => {
    const endpoint = await toldEndpoint(ground, { lanes: 60, perLane: 1 });
    const replay = await start(endpoint, everything);
    await ground.step();
    await deleteEndpoint(ground, developer, endpoint);
    await dropDueToDeleted(ground.database, new Date());
    assert.equal(await countOf(endpoint, "dropped"), mostReady);
    await ground.step();
    assert.deepEqual([await countOf(endpoint, "delivered"), await countOf(endpoint, "queued")], [10, 0]);
    const [row] = await ground.ask<{ status: string }>("select status from replays where id = $1", replay.id);
    assert.equal(row?.status, "cancelled");
    assert.deepEqual(await jobs(), []);
  });

  test("of more than it counts says about how many there are", async () => {
    const endpoint = await toldEndpoint(ground, { lanes: 60, perLane: 200 });
    await ground.ask("analyze events");
    const { total } = await start(endpoint, everything);
    assert.ok(total > 10_000 && total < 15_000, `12,000, give or take: ${total}`);
  });
});
