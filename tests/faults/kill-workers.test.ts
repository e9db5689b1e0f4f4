import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { withClient } from "@ehr-marketplace/dev/postgres";
import {
  type ApiProcess,
  cleanUpAfter,
  cloneDatabase,
  eventually,
  registerPractices,
  rounds,
  startReceiver,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support";
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

  // What a dead worker had in its hands comes back when its lease is over.
  await eventually("everything is settled", 90_000, async () => {
    const { rows } = await withClient(ownerUrl, (client) =>
      client.query<{ open: number }>(
        "select count(*)::int as open from deliveries where status in ('waiting', 'queued')",
      ),
    );
    return rows[0]?.open === 0;
  });
  const arrivals = new Map<string, string[]>();
  let attempts = 0;
  for (const { event } of receiver.received) {
    attempts += 1;
    const list = arrivals.get(event.subscription.id) ?? [];
    arrivals.set(event.subscription.id, [...list, event.timestamp]);
  }
  let violations = 0;
  let lost = 0;
  let arrived = 0;
  for (const [subscription, timestamps] of recorded) {
    const seen = arrivals.get(subscription) ?? [];
    const firsts = [...new Set(seen)];
    lost += timestamps.filter((timestamp) => !firsts.includes(timestamp)).length;
    arrived += firsts.length;
    // A repetition may come late; what comes for the first time may not come before what happened earlier.
    if (JSON.stringify(firsts) !== JSON.stringify(firsts.toSorted())) violations += 1;
  }
  const log = await withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ attempts: number; unknown: number; unlogged: number }>(
      `select count(*)::int as attempts, (count(*) filter (where outcome = 'unknown'))::int as unknown,
         (select coalesce(sum(attempts), 0)::int from deliveries) - count(*)::int as unlogged from delivery_attempts`,
    );
    return rows[0];
  });
  assert.deepEqual({ lost, violations, unlogged: log?.unlogged }, { lost: 0, violations: 0, unlogged: 0 });
  assert.ok(attempts <= (log?.attempts ?? 0), "no request went out without a row in the log");
  assert.equal(steady.child.exitCode, null);
  t.diagnostic(
    `${count} kills under ${eventsPerSecond} events a second: ${arrived} events delivered, lost 0, order violations 0, ` +
      `${attempts - arrived} duplicates, ${log?.attempts} attempts in the log, ${log?.unknown} of them unknown`,
  );
});
