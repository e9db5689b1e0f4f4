import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, eventually, isFullRun, rounds, withClient } from "@ehr-marketplace/test-kit";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";
import { countArrivals, longestDelayMs, readAttemptLog, waitUntilSettled } from "./arrivals.ts";
import { startChangeLoad } from "./change-load.ts";
import { findFetchedBy, waitForWorker } from "./delivery-workers.ts";

test("a frozen worker loses its deliveries to another one, and sends and settles none of them when it resumes", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const receiver = await startReceiver(cleanUp);
  let held: Map<string, () => void> | undefined;
  receiver.respond = ({ headers }, response) => {
    const respond = (): unknown => response.writeHead(204).end();
    if (held === undefined) setTimeout(respond, randomInt(30, 200));
    else held.set(String(headers["x-marketplace-delivery-id"]), respond);
  };
  const practices = await registerPractices(ownerUrl, { count: 400, callbackUrl: receiver.url });
  const environment = { LOG_LEVEL: "error" };
  const query = async <T extends object>(text: string, ...values: unknown[]): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(text, values))).rows;
  const frozen = await startWorkerProcess(cleanUp, serviceUrl, { environment });
  let frozenId = await waitForWorker(ownerUrl);
  const other = await startWorkerProcess(cleanUp, serviceUrl, { environment });
  const otherId = await waitForWorker(ownerUrl, frozenId);
  const load = await startChangeLoad(cleanUp, serviceUrl, practices, 100);

  let taken = 0;
  const count = rounds(1, 3);
  for (let round = 0; round < count; round += 1) {
    const expected = receiver.received.length + 200;
    await eventually("events are delivered", 60_000, () => receiver.received.length > expected);
    // On a slow machine hardly any delivery would be in flight.
    const unanswered = new Map<string, () => void>();
    held = unanswered;
    await eventually("it has deliveries in flight", 30_000, async () =>
      (await findFetchedBy(ownerUrl, frozenId)).some((id) => unanswered.has(id)),
    );
    frozen.child.kill("SIGSTOP");
    for (const respond of unanswered.values()) respond();
    held = undefined;
    const lastSecond = Math.ceil(Date.now() / 1_000);
    const frozenAt = performance.now();
    // A worker begins requests until five seconds after its heartbeat.
    const late = "select from delivery_workers where id = $1 and heartbeat_at < now() - interval '6 seconds'";
    await eventually("it is silent", 30_000, async () => (await query(late, frozenId)).length === 1);
    const claims = await findFetchedBy(ownerUrl, frozenId);
    if (!isFullRun) {
      const older = "update delivery_workers set heartbeat_at = heartbeat_at - interval '15 seconds' where id = $1";
      await query(older, frozenId);
    }
    const registered = "select from delivery_workers where id = $1";
    await eventually("it is declared dead", 30_000, async () => (await query(registered, frozenId)).length === 0);
    await eventually(
      "its deliveries are taken over",
      30_000,
      async () => (await findFetchedBy(ownerUrl, frozenId)).length === 0,
    );
    if (isFullRun) assert.ok(performance.now() - frozenAt < 20_000, "within 20 s");
    const ids = new Set(claims);
    const settled = "select id from deliveries where id = any ($1) and settled_at is null";
    await eventually("another worker settles them", 30_000, async () => (await query(settled, [...ids])).length === 0);
    if (isFullRun) await delay(Math.max(0, 60_000 - (performance.now() - frozenAt)));
    const sentBefore = receiver.received.length;
    taken += ids.size;
    frozen.child.kill("SIGCONT");
    frozenId = await waitForWorker(ownerUrl, frozenId, otherId);
    // A request that it had begun when it was frozen may arrive only now.
    const sentAgain = receiver.received
      .slice(sentBefore)
      .filter(({ headers }) => ids.has(String(headers["x-marketplace-delivery-id"])))
      .filter(({ headers }) => Number(headers["webhook-timestamp"]) > lastSecond);
    assert.deepEqual(sentAgain, [], "it sends nothing that it had fetched before");
  }
  const recorded = await load.stop();
  await waitUntilSettled(ownerUrl);

  const { arrived, lost, violations, duplicates } = countArrivals(receiver.received, recorded);
  const { unlogged } = await readAttemptLog(ownerUrl);
  assert.deepEqual({ lost, violations, unlogged }, { lost: 0, violations: 0, unlogged: 0 });
  assert.ok(taken > 0, "it had deliveries in flight when it was frozen");
  assert.deepEqual([frozen.child.exitCode, other.child.exitCode], [null, null]);
  t.diagnostic(
    `frozen ${count} times: ${arrived} events delivered, lost 0, order violations 0, ${taken} deliveries taken over, ${duplicates} ` +
      `duplicates; the longest time from response to arrival ${Math.round(longestDelayMs(receiver.received, load.respondedAt()))} ms`,
  );
});
