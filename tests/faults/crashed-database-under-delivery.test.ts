import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cleanUpAfter,
  eventually,
  registerPractices,
  rounds,
  startReceiver,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support";
import { committedEvents, countArrivals, waitUntilSettled } from "./arrivals.ts";
import { startCrashableCluster } from "./crashable-cluster.ts";
import { startRecording } from "./record-changes.ts";

const eventsPerSecond = 200;
/** Of changes that are refused although the database is available: those whose request began before it was. */
const mostRefusedShare = 0.05;

test("a database that crashes under 200 events a second costs no event that was answered, and nothing is stuck", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const cluster = await startCrashableCluster(cleanUp);
  const { ownerUrl, serviceUrl } = cluster;
  const receiver = await startReceiver(cleanUp);
  receiver.answer = (_received, response) => {
    setTimeout(() => response.writeHead(204).end(), 20);
  };
  const practices = await registerPractices(ownerUrl, { count: 400, callbackUrl: receiver.url });
  const environment = { LOG_LEVEL: "fatal" };
  const workers = await Promise.all([1, 2].map(() => startWorkerProcess(cleanUp, serviceUrl, { environment })));
  const recorder = await startRecording(cleanUp, serviceUrl, practices, eventsPerSecond);
  const processes = [...recorder.apis, ...workers];

  const flows = async (): Promise<void> => {
    const before = receiver.received.length;
    await eventually("events arrive", 30_000, () => receiver.received.length > before + 100);
  };
  const count = rounds(2, 10);
  let refusedWhileUp = 0;
  let upSince = recorder.unanswered();
  for (let round = 0; round < count; round += 1) {
    await flows();
    const unanswered = recorder.unanswered();
    refusedWhileUp += unanswered - upSince;
    await cluster.crash();
    await eventually("changes are refused", 10_000, () => recorder.unanswered() > unanswered);
    for (const each of processes) await eventually("not ready", 10_000, async () => !(await each.ready()));
    await cluster.startAgain();
    for (const each of processes) await eventually("ready again, with no restart", 15_000, () => each.ready());
    upSince = recorder.unanswered();
  }
  await flows();
  refusedWhileUp += recorder.unanswered() - upSince;
  assert.ok(
    refusedWhileUp <= recorder.answered() * mostRefusedShare,
    `${refusedWhileUp} refused while every process was ready, ${recorder.answered()} answered`,
  );
  const answered = await recorder.stop();
  await waitUntilSettled(ownerUrl);

  const { arrived, lost, violations, duplicates } = countArrivals(receiver.received, answered);
  const committed = countArrivals(receiver.received, await committedEvents(ownerUrl));
  assert.deepEqual({ lost, violations }, { lost: 0, violations: 0 });
  assert.deepEqual({ lost: committed.lost, unexpected: committed.unexpected }, { lost: 0, unexpected: 0 });
  assert.deepEqual(new Set(processes.map(({ child }) => child.exitCode)), new Set([null]));
  t.diagnostic(
    `${count} crashes under ${eventsPerSecond} events a second: ${arrived} events delivered, lost 0, order violations 0, ` +
      `stuck 0, ${duplicates} duplicates; ${recorder.answered()} changes answered 200, ${recorder.unanswered()} answered 503, ` +
      `${refusedWhileUp} of them while every process was ready`,
  );
});
