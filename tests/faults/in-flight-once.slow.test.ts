import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, eventually, rounds, timeLimitMs } from "@ehr-marketplace/test-kit";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";
import { committedEvents, countArrivals, readAttemptLog, waitUntilSettled } from "./arrivals.ts";
import { startChangeLoad } from "./change-load.ts";

const eventsPerSecond = 200;
const maxDelayMs = 200;

interface Interval {
  from: number;
  to: number;
}

const countOverlaps = (intervals: Interval[]): number => {
  const ordered = intervals.toSorted((one, other) => one.from - other.from);
  return ordered.filter(({ from }, nth) => ordered.slice(0, nth).some(({ to }) => to > from)).length;
};

test("no delivery is in flight twice with two workers and four APIs that create, pause, resume and cancel", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const receiver = await startReceiver(cleanUp);
  const inFlight = new Map<string, Interval[]>();
  receiver.respond = ({ at, headers }, response) => {
    const id = String(headers["x-marketplace-delivery-id"]);
    const interval = { from: at, to: Number.POSITIVE_INFINITY };
    inFlight.set(id, [...(inFlight.get(id) ?? []), interval]);
    response.on("close", () => {
      interval.to = performance.now();
    });
    const waitMs = randomInt(4) === 0 ? randomInt(maxDelayMs) : randomInt(10);
    setTimeout(() => response.writeHead(204).end(), waitMs);
  };
  const practices = await registerPractices(ownerUrl, { count: 200, callbackUrl: receiver.url });
  const environment = { LOG_LEVEL: "error" };
  const workers = [
    await startWorkerProcess(cleanUp, serviceUrl, { environment }),
    await startWorkerProcess(cleanUp, serviceUrl, { environment }),
  ];
  const load = await startChangeLoad(cleanUp, serviceUrl, practices, eventsPerSecond, { apis: 4, cancels: true });

  const requiredArrivals = rounds(600, 10_000);
  await eventually(
    "enough events arrive",
    timeLimitMs(requiredArrivals, 0.1),
    () => receiver.received.length >= requiredArrivals,
  );
  const acknowledged = await load.stop();
  await waitUntilSettled(ownerUrl);

  const { arrived, lost, violations, duplicates } = countArrivals(receiver.received, acknowledged);
  const { unexpected } = countArrivals(receiver.received, await committedEvents(ownerUrl));
  const { attempts } = await readAttemptLog(ownerUrl);
  const overlapping = [...inFlight.values()].reduce((sum, intervals) => sum + countOverlaps(intervals), 0);
  // No worker died, so no lease expired: no delivery may have had a second attempt.
  assert.deepEqual(
    { overlapping, lost, violations, unexpected, duplicates, retried: attempts - inFlight.size },
    { overlapping: 0, lost: 0, violations: 0, unexpected: 0, duplicates: 0, retried: 0 },
  );
  const kinds = Object.groupBy(receiver.received, ({ event }) => event.event);
  assert.equal(Object.keys(kinds).length, 4, "events of all four types were sent");
  assert.deepEqual(
    workers.map(({ child }) => child.exitCode),
    [null, null],
  );
  t.diagnostic(
    `${arrived} events of ${acknowledged.size} subscriptions through 4 APIs and 2 workers: in flight twice 0, lost 0, order ` +
      `violations 0, duplicates 0; ${kinds["subscription.cancelled"]?.length} cancelled`,
  );
});
