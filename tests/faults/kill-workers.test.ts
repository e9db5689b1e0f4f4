import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { cleanUpAfter, cloneDatabase, rounds } from "@ehr-marketplace/test-kit";
import {
  registerPractices,
  type ServiceProcess,
  startReceiver,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support";
import { countArrivals, readAttemptLog, waitUntilSettled } from "./arrivals.ts";
import { type ChangeLoad, startChangeLoad } from "./change-load.ts";

const eventsPerSecond = 200;

test("kill -9 of workers under 200 events a second loses no event, keeps the order and logs every attempt", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const receiver = await startReceiver(cleanUp);
  receiver.respond = (_received, response) => {
    // The delay gives a worker time to die between request and response.
    setTimeout(() => response.writeHead(204).end(), randomInt(30));
  };
  const practices = await registerPractices(ownerUrl, { count: 400, callbackUrl: receiver.url });
  const environment = { LOG_LEVEL: "error" };
  const steady = await startWorkerProcess(cleanUp, serviceUrl, { environment });
  let victim: ServiceProcess = await startWorkerProcess(cleanUp, serviceUrl, { environment });
  const load: ChangeLoad = await startChangeLoad(cleanUp, serviceUrl, practices, eventsPerSecond);

  const count = rounds(3, 20);
  for (let round = 0; round < count; round += 1) {
    await delay(randomInt(300, 1_500));
    victim.child.kill("SIGKILL");
    await victim.exited;
    victim = await startWorkerProcess(cleanUp, serviceUrl, { environment });
  }
  const recorded = await load.stop();

  await waitUntilSettled(ownerUrl);
  const { arrived, lost, violations, duplicates } = countArrivals(receiver.received, recorded);
  const log = await readAttemptLog(ownerUrl);
  assert.deepEqual({ lost, violations, unlogged: log.unlogged }, { lost: 0, violations: 0, unlogged: 0 });
  assert.ok(receiver.received.length <= log.attempts, "every request has a row in the log");
  assert.equal(steady.child.exitCode, null);
  t.diagnostic(
    `${count} kills under ${eventsPerSecond} events a second: ${arrived} events delivered, lost 0, order violations 0, ` +
      `${duplicates} duplicates, ${log.attempts} attempts in the log, ${log.unknown} of them unknown`,
  );
});
