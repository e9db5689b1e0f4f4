import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { type CleanUp, cleanUpAfter, cloneDatabase, eventually, rounds } from "@ehr-marketplace/test-kit";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";
import { assertArrivedWithin, countArrivals, longestDelayMs, readAttemptLog, waitUntilSettled } from "./arrivals.ts";
import { startChangeLoad } from "./change-load.ts";

const eventsPerSecond = 200;
/** From the response to the arrival, with a second worker that takes over. */
const maxDelayMs = 6_000;

async function prepare(cleanUp: CleanUp) {
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const receiver = await startReceiver(cleanUp);
  receiver.respond = (_received, response) => {
    // The delay gives a worker time to die between request and response.
    setTimeout(() => response.writeHead(204).end(), randomInt(30));
  };
  const practices = await registerPractices(ownerUrl, { count: 400, callbackUrl: receiver.url });
  return {
    ownerUrl,
    receiver,
    startWorker: () => startWorkerProcess(cleanUp, serviceUrl, { environment: { LOG_LEVEL: "error" } }),
    startLoad: () => startChangeLoad(cleanUp, serviceUrl, practices, eventsPerSecond),
  };
}

test("kill -9 of workers under 200 events a second loses no event, keeps the order, logs every attempt, and delays none by more than 6 s", async (t) => {
  const { ownerUrl, receiver, startWorker, startLoad } = await prepare(cleanUpAfter(t));
  const steady = await startWorker();
  let victim = await startWorker();
  const load = await startLoad();

  await eventually("events are delivered", 60_000, () => receiver.received.length > 400);
  const before = longestDelayMs(receiver.received, load.respondedAt());

  const count = rounds(3, 20);
  for (let round = 0; round < count; round += 1) {
    await delay(randomInt(300, 1_500));
    victim.child.kill("SIGKILL");
    await victim.exited;
    victim = await startWorker();
  }
  const recorded = await load.stop();

  await waitUntilSettled(ownerUrl);
  const { arrived, lost, violations, duplicates } = countArrivals(receiver.received, recorded);
  const log = await readAttemptLog(ownerUrl);
  assert.deepEqual({ lost, violations, unlogged: log.unlogged }, { lost: 0, violations: 0, unlogged: 0 });
  assert.ok(receiver.received.length <= log.attempts, "every request has a row in the log");
  assert.equal(steady.child.exitCode, null);
  const longest = longestDelayMs(receiver.received, load.respondedAt());
  assertArrivedWithin(maxDelayMs, { before, longest });
  t.diagnostic(
    `${count} kills under ${eventsPerSecond} events a second: ${arrived} events delivered, lost 0, order violations 0, ` +
      `${duplicates} duplicates, ${log.attempts} attempts in the log, ${log.unknown} of them unknown; the longest time from response ` +
      `to arrival ${Math.round(longest)} ms, before the first kill ${Math.round(before)} ms`,
  );
});

test("kill -9 of the only worker, which starts again after 2 s, delays no event by more than 8 s", async (t) => {
  const { ownerUrl, receiver, startWorker, startLoad } = await prepare(cleanUpAfter(t));
  let worker = await startWorker();
  const load = await startLoad();
  const waitForArrivals = (): Promise<void> => {
    const expected = receiver.received.length + 400;
    return eventually("events are delivered", 60_000, () => receiver.received.length > expected);
  };
  await waitForArrivals();
  const before = longestDelayMs(receiver.received, load.respondedAt());

  let longestStart = 0;
  const count = rounds(1, 10);
  for (let round = 0; round < count; round += 1) {
    worker.child.kill("SIGKILL");
    await worker.exited;
    await delay(2_000);
    const startedAt = performance.now();
    worker = await startWorker();
    longestStart = Math.max(longestStart, performance.now() - startedAt);
    // The next kill would only lengthen a backlog.
    await waitUntilSettled(ownerUrl, 50);
    await waitForArrivals();
  }
  const recorded = await load.stop();
  await waitUntilSettled(ownerUrl);
  const { arrived, lost, violations, duplicates } = countArrivals(receiver.received, recorded);
  assert.deepEqual({ lost, violations }, { lost: 0, violations: 0 });
  const longest = longestDelayMs(receiver.received, load.respondedAt());
  // On a machine that it shares with other tests, a process may take longer to start than all of this.
  assertArrivedWithin(8_000, { before: before + longestStart / 2, longest });
  t.diagnostic(
    `${count} kills: ${arrived} events delivered, lost 0, order violations 0, ${duplicates} duplicates; the longest time from ` +
      `response to arrival ${Math.round(longest)} ms, before the first kill ${Math.round(before)} ms, the longest start ${Math.round(longestStart)} ms`,
  );
});
