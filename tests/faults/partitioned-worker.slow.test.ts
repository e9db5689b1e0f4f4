import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { describe, test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import {
  cleanUpAfter,
  cloneDatabase,
  eventually,
  isFullRun,
  rounds,
  startNetworkFaultProxy,
  withClient,
} from "@ehr-marketplace/test-kit";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { type ServiceProcess, startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";
import { countArrivals, readAttemptLog, waitUntilSettled } from "./arrivals.ts";
import { startChangeLoad } from "./change-load.ts";
import { findFetchedBy, waitForWorker } from "./delivery-workers.ts";

const eventsPerSecond = 200;

/** Reads how many attempts this worker has finished. */
async function attemptsOf({ url }: ServiceProcess): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const counts = metrics.matchAll(/^webhook_attempts_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

async function waitUntilDelivering(worker: ServiceProcess): Promise<void> {
  await eventually("the worker is ready", 30_000, () => worker.isReady());
  const before = await attemptsOf(worker);
  await eventually("the worker delivers", 30_000, async () => (await attemptsOf(worker)) > before + 20);
}

const countJobsStartedBefore = (ownerUrl: string, interruptedAt: Date): Promise<number> =>
  withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ jobs: number }>(
      "select count(*)::int as jobs from pgboss.job where name = 'deliveries' and state = 'active' and started_on < $1",
      [interruptedAt],
    );
    return rows[0]?.jobs ?? 0;
  });

/** In a short run, the silence of a worker that is two seconds late lasts longer. */
const ageLateHeartbeats = (ownerUrl: string): Promise<unknown> =>
  withClient(ownerUrl, (client) =>
    client.query(
      `update delivery_workers set heartbeat_at = heartbeat_at - interval '15 seconds'
       where heartbeat_at between now() - interval '15 seconds' and now() - interval '2 seconds'`,
    ),
  );

describe("a worker that loses its connection to PostgreSQL, while another keeps it", () => {
  for (const fault of ["reset", "delay", "drop"] as const) {
    test(`${fault}: another worker takes over its deliveries, and it resumes when the connection is restored`, async (t) => {
      const cleanUp = cleanUpAfter(t);
      const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
      const receiver = await startReceiver(cleanUp);
      let held: Map<string, () => void> | undefined;
      receiver.respond = ({ headers }, response) => {
        const respond = (): unknown => response.writeHead(204).end();
        if (held === undefined) setTimeout(respond, randomInt(30, 60));
        else held.set(String(headers["x-marketplace-delivery-id"]), respond);
      };
      const practices = await registerPractices(ownerUrl, { count: 400, callbackUrl: receiver.url });
      const proxy = await startNetworkFaultProxy(cleanUp, serviceUrl);
      const environment = { LOG_LEVEL: "fatal" };
      const connected = await startWorkerProcess(cleanUp, serviceUrl, { environment });
      const connectedId = await waitForWorker(ownerUrl);
      const partitioned = await startWorkerProcess(cleanUp, proxy.url, { environment });
      const load = await startChangeLoad(cleanUp, serviceUrl, practices, eventsPerSecond);

      let takenOver = 0;
      const count = rounds(1, 3);
      for (let round = 0; round < count; round += 1) {
        await waitUntilDelivering(partitioned);
        const partitionedId = await waitForWorker(ownerUrl, connectedId);
        // On a slow machine hardly any delivery would be in flight.
        const unanswered = new Map<string, () => void>();
        held = unanswered;
        let inFlight = 0;
        await eventually("it has deliveries in flight", 30_000, async () => {
          inFlight = (await findFetchedBy(ownerUrl, partitionedId)).filter((id) => unanswered.has(id)).length;
          return inFlight > 0;
        });
        takenOver += inFlight;
        const interruptedAt = new Date();
        proxy.interrupt(fault);
        for (const respond of unanswered.values()) respond();
        held = undefined;
        await eventually("the worker is not ready", 30_000, async () => !(await partitioned.isReady()));
        await eventually("another worker takes its deliveries over", 30_000, async () => {
          if (!isFullRun) await ageLateHeartbeats(ownerUrl);
          return (await countJobsStartedBefore(ownerUrl, interruptedAt)) === 0;
        });
        proxy.restore();
        await waitUntilDelivering(partitioned);
      }
      const recorded = await load.stop();
      await waitUntilSettled(ownerUrl);

      const { arrived, lost, violations, duplicates } = countArrivals(receiver.received, recorded);
      const { unknown, unlogged } = await readAttemptLog(ownerUrl);
      assert.deepEqual({ lost, violations, unlogged }, { lost: 0, violations: 0, unlogged: 0 });
      assert.deepEqual([partitioned.child.exitCode, connected.child.exitCode], [null, null]);
      t.diagnostic(
        `interrupted ${count} times (${fault}): ${arrived} events delivered, lost 0, order violations 0, stuck 0, ${takenOver} ` +
          `deliveries taken over, ${duplicates} duplicates, ${unknown} attempts unknown`,
      );
    });
  }
});
