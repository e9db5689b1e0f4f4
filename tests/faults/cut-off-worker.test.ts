import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { describe, test } from "node:test";
import { withClient } from "@ehr-marketplace/dev/postgres";
import {
  type ApiProcess,
  cleanUpAfter,
  cloneDatabase,
  eventually,
  letLeasesEnd,
  registerPractices,
  rounds,
  startReceiver,
  startSeveredProxy,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support";
import { countArrivals, heldByNobodyMs, readLog, waitUntilSettled } from "./arrivals.ts";
import { startRecording } from "./record-changes.ts";

const eventsPerSecond = 200;

/** How many requests this worker has sent and heard the answer of. */
async function attemptsOf({ url }: ApiProcess): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const counts = metrics.matchAll(/^webhook_attempts_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

async function goesOnWorking(worker: ApiProcess): Promise<void> {
  await eventually("it is ready", 30_000, () => worker.ready());
  const before = await attemptsOf(worker);
  await eventually("it delivers", 30_000, async () => (await attemptsOf(worker)) > before + 20);
}

const startedBefore = (ownerUrl: string, cutAt: Date): Promise<number> =>
  withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ jobs: number }>(
      "select count(*)::int as jobs from pgboss.job where name = 'deliveries' and state = 'active' and started_on < $1",
      [cutAt],
    );
    return rows[0]?.jobs ?? 0;
  });

describe("a worker that is cut off from PostgreSQL, while another is not", () => {
  for (const how of ["reset", "held back", "swallowed"] as const) {
    test(`${how}: another takes what it had; joined again, it goes on by itself`, async (t) => {
      const cleanUp = cleanUpAfter(t);
      const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
      const receiver = await startReceiver(cleanUp);
      receiver.answer = (_received, response) => {
        setTimeout(() => response.writeHead(204).end(), randomInt(30, 60));
      };
      const practices = await registerPractices(ownerUrl, { count: 400, callbackUrl: receiver.url });
      const proxy = await startSeveredProxy(cleanUp, serviceUrl);
      const environment = { LOG_LEVEL: "fatal" };
      const severed = await startWorkerProcess(cleanUp, proxy.url, { environment });
      const connected = await startWorkerProcess(cleanUp, serviceUrl, { environment });
      const recorder = await startRecording(cleanUp, serviceUrl, practices, eventsPerSecond);

      let takenOver = 0;
      const count = rounds(1, 3);
      for (let round = 0; round < count; round += 1) {
        await goesOnWorking(severed);
        const cutAt = new Date();
        proxy.cut(how);
        await eventually("it says that it isn't ready", 30_000, async () => !(await severed.ready()));
        await eventually("another takes what it had", 30_000, async () => {
          takenOver += await letLeasesEnd(ownerUrl, heldByNobodyMs);
          return (await startedBefore(ownerUrl, cutAt)) === 0;
        });
        proxy.join();
        await goesOnWorking(severed);
      }
      const recorded = await recorder.stop();
      await waitUntilSettled(ownerUrl);

      const { arrived, lost, violations, duplicates } = countArrivals(receiver.received, recorded);
      const { unknown, unlogged } = await readLog(ownerUrl);
      assert.deepEqual({ lost, violations, unlogged }, { lost: 0, violations: 0, unlogged: 0 });
      assert.ok(takenOver > 0, "it had something when it was cut off");
      assert.deepEqual([severed.child.exitCode, connected.child.exitCode], [null, null]);
      t.diagnostic(
        `cut ${count} times (${how}): ${arrived} events delivered, lost 0, order violations 0, stuck 0, ${takenOver} ` +
          `deliveries taken over, ${duplicates} duplicates, ${unknown} attempts unknown`,
      );
    });
  }
});
