import { loadWithProgress } from "@ehr-marketplace/dev/plausible-apps";
import { prepareMarketplaceDatabase } from "@ehr-marketplace/dev/postgres";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { type ServiceDatabase, withClient } from "@ehr-marketplace/test-kit";
import { PgBoss } from "pg-boss";
import { createEventSource } from "./event-source.ts";
import { ourLatency } from "./latency.ts";
import { startBenchReceiver } from "./receiver.ts";
import { startWorker } from "./workers.ts";

export const perSecond = 200;

export async function prepareBenchDatabase(clusterUrl: string, name: string): Promise<ServiceDatabase> {
  const database = await prepareMarketplaceDatabase(clusterUrl, name);
  await loadWithProgress(database.ownerUrl, { count: 100, seed: 1 });
  const boss = new PgBoss({ connectionString: database.ownerUrl, schema: "bare", supervise: false, schedule: false });
  await boss.start();
  await boss.createQueue("bare", { notify: true });
  await boss.stop({ graceful: false });
  await withClient(database.ownerUrl, (client) =>
    client.query(
      "create table bare_log (id uuid primary key, started_at timestamptz, outcome text, status_code integer)",
    ),
  );
  return database;
}

/** Returns the p95 in milliseconds from commit to receiver, with one recipient per event; every `hangsEvery`-th recipient never responds. */
export async function measureLatency(
  database: ServiceDatabase,
  prefix: string,
  seconds: number,
  hangsEvery?: number,
): Promise<number> {
  const receiver = await startBenchReceiver();
  const hangs = (nth: number): boolean => hangsEvery !== undefined && nth % hangsEvery === 0;
  const practices = await registerPractices(database.ownerUrl, {
    count: perSecond * (seconds + 3),
    prefix,
    callbackUrl: (nth) => (hangs(nth) ? `${receiver.url}/hangs` : receiver.url),
  });
  const source = await createEventSource(database.serviceUrl, database.ownerUrl);
  const worker = await startWorker(database.serviceUrl);
  try {
    const warmUp = practices.splice(0, perSecond * 3);
    await ourLatency(
      source,
      receiver,
      warmUp.filter((_, nth) => !hangs(nth)),
      {
        perSecond,
        seconds: 2,
      },
    );
    return await ourLatency(source, receiver, practices, { perSecond, seconds }, hangs);
  } finally {
    await worker.stop();
    await source.stop();
    await receiver.stop();
  }
}
