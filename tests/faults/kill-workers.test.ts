import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  type ApiProcess,
  cleanUpAfter,
  cloneDatabase,
  registerPractices,
  rounds,
  startReceiver,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support";
import { countArrivals, readLog, waitUntilSettled } from "./arrivals.ts";
import { type Recorder, startRecording } from "./record-changes.ts";

const eventsPerSecond = 200;

test("kill -9 of workers under 200 events a second: nothing is lost, nothing overtakes, every attempt is in the log", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const receiver = await startReceiver(cleanUp);
  receiver.answer = (_received, response) => {
    // Some time passes between a request and its answer, in which a worker can die.
    setTimeout(() => response.writeHead(204).end(), randomInt(30));
  };
  const practices = await registerPractices(ownerUrl, { count: 400, callbackUrl: receiver.url });
  const environment = { LOG_LEVEL: "error" };
  const steady = await startWorkerProcess(cleanUp, serviceUrl, { environment });
  let victim: ApiProcess = await startWorkerProcess(cleanUp, serviceUrl, { environment });
  const recorder: Recorder = await startRecording(cleanUp, serviceUrl, practices, eventsPerSecond);

  const count = rounds(3, 20);
  for (let round = 0; round < count; round += 1) {
    await delay(randomInt(300, 1_500));
    victim.child.kill("SIGKILL");
    await victim.ended;
    victim = await startWorkerProcess(cleanUp, serviceUrl, { environment });
  }
  const recorded = await recorder.stop();

  await waitUntilSettled(ownerUrl);
  const { arrived, lost, violations, duplicates } = countArrivals(receiver.received, recorded);
  const log = await readLog(ownerUrl);
  assert.deepEqual({ lost, violations, unlogged: log.unlogged }, { lost: 0, violations: 0, unlogged: 0 });
  assert.ok(receiver.received.length <= log.attempts, "no request went out without a row in the log");
  assert.equal(steady.child.exitCode, null);
  t.diagnostic(
    `${count} kills under ${eventsPerSecond} events a second: ${arrived} events delivered, lost 0, order violations 0, ` +
      `${duplicates} duplicates, ${log.attempts} attempts in the log, ${log.unknown} of them unknown`,
  );
});
