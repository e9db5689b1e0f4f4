import assert from "node:assert/strict";
import { test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, eventually, rounds } from "@ehr-marketplace/test-kit";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";
import { committedEvents, countArrivals, waitUntilSettled } from "./arrivals.ts";
import { startChangeLoad } from "./change-load.ts";
import { startCrashableCluster } from "./crashable-cluster.ts";

const eventsPerSecond = 200;
/** Changes that may fail although the database is available, because their request began before it was. */
const maxRefusedShare = 0.05;

test("a database crash under 200 events a second loses no acknowledged event and leaves no delivery stuck", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const cluster = await startCrashableCluster(cleanUp);
  const { ownerUrl, serviceUrl } = cluster;
  const receiver = await startReceiver(cleanUp);
  receiver.respond = (_received, response) => {
    setTimeout(() => response.writeHead(204).end(), 20);
  };
  const practices = await registerPractices(ownerUrl, { count: 400, callbackUrl: receiver.url });
  const environment = { LOG_LEVEL: "fatal" };
  const workers = await Promise.all([1, 2].map(() => startWorkerProcess(cleanUp, serviceUrl, { environment })));
  const load = await startChangeLoad(cleanUp, serviceUrl, practices, eventsPerSecond, { maxPending: 8 });
  const processes = [...load.apis, ...workers];

  const waitForArrivals = async (): Promise<void> => {
    const before = receiver.received.length;
    await eventually("events arrive", 30_000, () => receiver.received.length > before + 100);
  };
  const count = rounds(2, 10);
  let refusedWhileUp = 0;
  let countAtRecovery = load.unavailableCount();
  for (let round = 0; round < count; round += 1) {
    await waitForArrivals();
    const unavailable = load.unavailableCount();
    refusedWhileUp += unavailable - countAtRecovery;
    await cluster.crash();
    await eventually("changes fail", 30_000, () => load.unavailableCount() > unavailable);
    for (const each of processes) await eventually("not ready", 30_000, async () => !(await each.isReady()));
    await cluster.restart();
    for (const each of processes) await eventually("ready without a restart", 15_000, () => each.isReady());
    countAtRecovery = load.unavailableCount();
  }
  await waitForArrivals();
  refusedWhileUp += load.unavailableCount() - countAtRecovery;
  assert.ok(
    refusedWhileUp <= load.succeededCount() * maxRefusedShare,
    `${refusedWhileUp} failed while every process was ready, ${load.succeededCount()} succeeded`,
  );
  const acknowledged = await load.stop();
  await waitUntilSettled(ownerUrl);

  const { arrived, lost, violations, duplicates } = countArrivals(receiver.received, acknowledged);
  const committed = countArrivals(receiver.received, await committedEvents(ownerUrl));
  assert.deepEqual({ lost, violations }, { lost: 0, violations: 0 });
  assert.deepEqual({ lost: committed.lost, unexpected: committed.unexpected }, { lost: 0, unexpected: 0 });
  assert.deepEqual(new Set(processes.map(({ child }) => child.exitCode)), new Set([null]));
  t.diagnostic(
    `${count} crashes under ${eventsPerSecond} events a second: ${arrived} events delivered, lost 0, order violations 0, ` +
      `stuck 0, ${duplicates} duplicates; ${load.succeededCount()} changes succeeded, ${load.unavailableCount()} got 503, ` +
      `${refusedWhileUp} of them while every process was ready`,
  );
});
