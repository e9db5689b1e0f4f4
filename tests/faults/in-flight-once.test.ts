import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import {
  cleanUpAfter,
  cloneDatabase,
  eventually,
  registerPractices,
  rounds,
  startReceiver,
  startWorkerProcess,
  timeLimitMs,
} from "@ehr-marketplace/tests/support";
import { committedEvents, countArrivals, readLog, waitUntilSettled } from "./arrivals.ts";
import { startRecording } from "./record-changes.ts";

const eventsPerSecond = 200;
const slowestMs = 200;

interface Interval {
  from: number;
  to: number;
}

const overlaps = (intervals: Interval[]): number => {
  const ordered = intervals.toSorted((one, other) => one.from - other.from);
  return ordered.filter(({ from }, nth) => ordered.slice(0, nth).some(({ to }) => to > from)).length;
};

test("two workers, four APIs that create, pause, resume and cancel: no delivery is in flight twice", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const receiver = await startReceiver(cleanUp);
  const inFlight = new Map<string, Interval[]>();
  receiver.answer = ({ at, headers }, response) => {
    const id = String(headers["x-marketplace-delivery-id"]);
    const interval = { from: at, to: Number.POSITIVE_INFINITY };
    inFlight.set(id, [...(inFlight.get(id) ?? []), interval]);
    response.on("close", () => {
      interval.to = performance.now();
    });
    const waitMs = randomInt(4) === 0 ? randomInt(slowestMs) : randomInt(10);
    setTimeout(() => response.writeHead(204).end(), waitMs);
  };
  const practices = await registerPractices(ownerUrl, { count: 200, callbackUrl: receiver.url });
  const environment = { LOG_LEVEL: "error" };
  const workers = [
    await startWorkerProcess(cleanUp, serviceUrl, { environment }),
    await startWorkerProcess(cleanUp, serviceUrl, { environment }),
  ];
  const recorder = await startRecording(cleanUp, serviceUrl, practices, eventsPerSecond, { apis: 4, cancels: true });

  const enough = rounds(600, 10_000);
  await eventually("enough has arrived", timeLimitMs(enough, 0.1), () => receiver.received.length >= enough);
  const answered = await recorder.stop();
  await waitUntilSettled(ownerUrl);

  const { arrived, lost, violations, duplicates } = countArrivals(receiver.received, answered);
  const { unexpected } = countArrivals(receiver.received, await committedEvents(ownerUrl));
  const { attempts } = await readLog(ownerUrl);
  const twice = [...inFlight.values()].reduce((sum, intervals) => sum + overlaps(intervals), 0);
  // No worker died, so no lease was over: nothing may have been sent again, at once or later.
  assert.deepEqual(
    { twice, lost, violations, unexpected, duplicates, again: attempts - inFlight.size },
    { twice: 0, lost: 0, violations: 0, unexpected: 0, duplicates: 0, again: 0 },
  );
  const kinds = Object.groupBy(receiver.received, ({ event }) => event.event);
  assert.equal(Object.keys(kinds).length, 4, "there was everything that can happen");
  assert.deepEqual(
    workers.map(({ child }) => child.exitCode),
    [null, null],
  );
  t.diagnostic(
    `${arrived} events of ${answered.size} subscriptions through 4 APIs and 2 workers: in flight twice 0, lost 0, order ` +
      `violations 0, duplicates 0; ${kinds["subscription.cancelled"]?.length} cancelled`,
  );
});
