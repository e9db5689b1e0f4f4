import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { describe, test } from "node:test";
import {
  cleanUpAfter,
  cloneDatabase,
  eventually,
  isFullRun,
  rounds,
  startNetworkFaultProxy,
  withClient,
} from "@ehr-marketplace/test-kit";
import {
  registerPractices,
  type ServiceProcess,
  startReceiver,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support";
import { countArrivals, readAttemptLog, waitUntilSettled } from "./arrivals.ts";
import { startChangeLoad } from "./change-load.ts";

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

const isEachWorkerDelivering = (ownerUrl: string): Promise<boolean> =>
  withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ delivering: number }>(
      "select count(distinct worker_id)::int as delivering from deliveries join delivery_workers on delivery_workers.id = worker_id",
    );
    return rows[0]?.delivering === 2;
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
      let held: (() => void)[] | undefined;
      receiver.respond = (_received, response) => {
        const respond = (): unknown => response.writeHead(204).end();
        if (held === undefined) setTimeout(respond, randomInt(30, 60));
        else held.push(respond);
      };
      const practices = await registerPractices(ownerUrl, { count: 400, callbackUrl: receiver.url });
      const proxy = await startNetworkFaultProxy(cleanUp, serviceUrl);
      const environment = { LOG_LEVEL: "fatal" };
      const partitioned = await startWorkerProcess(cleanUp, proxy.url, { environment });
      const connected = await startWorkerProcess(cleanUp, serviceUrl, { environment });
      const load = await startChangeLoad(cleanUp, serviceUrl, practices, eventsPerSecond);

      let takenOver = 0;
      const count = rounds(1, 3);
      for (let round = 0; round < count; round += 1) {
        await waitUntilDelivering(partitioned);
        // On a slow machine hardly any delivery would be in flight.
        held = [];
        await eventually("each worker has deliveries in flight", 30_000, () => isEachWorkerDelivering(ownerUrl));
        const interruptedAt = new Date();
        proxy.interrupt(fault);
        for (const respond of held) respond();
        held = undefined;
        await eventually("the worker is not ready", 30_000, async () => !(await partitioned.isReady()));
        takenOver += await countJobsStartedBefore(ownerUrl, interruptedAt);
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
      assert.ok(takenOver > 0, "the worker had deliveries in flight when it was interrupted");
      assert.deepEqual([partitioned.child.exitCode, connected.child.exitCode], [null, null]);
      t.diagnostic(
        `interrupted ${count} times (${fault}): ${arrived} events delivered, lost 0, order violations 0, stuck 0, ${takenOver} ` +
          `deliveries taken over, ${duplicates} duplicates, ${unknown} attempts unknown`,
      );
    });
  }
});
