import { randomInt, randomUUID } from "node:crypto";
import type { IdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { withClient } from "@ehr-marketplace/test-kit";
import type { Figure } from "../figures.ts";
import { Client, connect, median, throughput } from "../measure.ts";
import { startApi } from "../servers.ts";
import { createBareTables, insertBareBatch, type SentRecord } from "./bare-usage.ts";
import { loadSubscribers, metric } from "./load-subscribers.ts";

const clients = 10;
/** Each may be reported 20 times a second. */
const subscriptionsPerClient = 100;
const recordsPerBatch = 100;
const seconds = 5;
const rounds = 7;
const millisecondsPerHour = 3_600_000;

/** Usage of the last hour, as a vendor reports it that collects it for an hour. */
function createRecords(): SentRecord[] {
  const now = Date.now();
  return Array.from({ length: recordsPerBatch }, () => ({
    id: randomUUID(),
    metric,
    quantity: `${randomInt(1, 10)}.5`,
    occurredAt: new Date(now - randomInt(millisecondsPerHour)).toISOString(),
  }));
}

/** Figure 1: records a second by `POST /subscriptions/{id}/usage`, against inserting them and adding them up by `pg` alone. */
export async function reportThroughput(
  clusterUrl: string,
  issuer: IdentityProvider,
  mediaDirectory: string,
): Promise<Figure[]> {
  const count = clients * subscriptionsPerClient;
  const database = await loadSubscribers(clusterUrl, { name: "bench_report", count, mediaDirectory });
  await createBareTables(database.ownerUrl);
  const api = await startApi(database.serviceUrl, {
    DATABASE_POOL_SIZE: String(clients),
    USAGE_REQUESTS_PER_MINUTE: "1000000000",
    DEFAULT_USAGE_LIMITS: "USD=999999999999999",
    TOKEN_ISSUER: issuer.issuer,
    TOKEN_JWKS_URL: issuer.jwksUrl,
  });
  const token = await issuer.accessToken("northwind-developer");
  const httpClients = Array.from({ length: clients }, () => new Client(api.url));
  const connections = await connect(database.serviceUrl, clients);
  const batches = Array.from({ length: clients }, () => 0);
  /** The subscriptions of a client take turns. */
  const nextSubscription = (client: number): string => {
    const batch = (batches[client] ?? 0) + 1;
    batches[client] = batch;
    return database.subscriptions[client * subscriptionsPerClient + (batch % subscriptionsPerClient)] ?? "";
  };
  let accepted = 0;
  const reportByApi = async (client: number): Promise<void> => {
    const url = `${api.url}/subscriptions/${nextSubscription(client)}/usage`;
    const response = await httpClients[client]?.post(url, token, { records: createRecords() });
    if (response?.status !== 200 || response.body.includes("rejected"))
      throw new Error(`${response?.status}: ${response?.body.toString()}`);
    accepted += recordsPerBatch;
  };
  const reportBySql = async (client: number): Promise<void> => {
    const connection = connections[client];
    if (connection !== undefined) await insertBareBatch(connection, nextSubscription(client), createRecords());
  };

  await throughput(clients, 3, reportByApi);
  await throughput(clients, 3, reportBySql);
  const pairs: { ours: number; bare: number; cpu: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = await api.cpu();
    const ours = await throughput(clients, seconds, reportByApi);
    const cpu = ((await api.cpu()) - before) / (ours * seconds);
    pairs.push({ ours, cpu, bare: await throughput(clients, seconds, reportBySql) });
  }
  await Promise.all(httpClients.map((client) => client.close()));
  await Promise.all(connections.map((connection) => connection.end()));
  await api.stop();
  await assertCounted(database.ownerUrl, accepted);
  const medianOf = (value: (pair: (typeof pairs)[number]) => number): number => median(pairs.map(value));
  const perSecond = (batchesPerSecond: number): string =>
    `${(batchesPerSecond * recordsPerBatch).toLocaleString("en", { maximumFractionDigits: 0 })}/s`;
  return [
    {
      name: `1 records of usage in batches of ${recordsPerBatch}, per second`,
      measured: `${perSecond(medianOf(({ ours }) => ours))} (${medianOf(({ cpu }) => cpu / 1_000).toFixed(1)} ms of CPU for each batch)`,
      reference: `${perSecond(medianOf(({ bare }) => bare))} by pg alone, ${clients} connections`,
      value: medianOf(({ ours }) => ours) / medianOf(({ bare }) => bare),
      goal: { atLeast: 0.4 },
    },
  ];
}

async function assertCounted(ownerUrl: string, expected: number): Promise<void> {
  const { rows } = await withClient(ownerUrl, (client) =>
    client.query<{ count: number }>("select sum(record_count)::int as count from usage_hours"),
  );
  if (rows[0]?.count !== expected) throw new Error(`${rows[0]?.count} records were counted, not ${expected}`);
}
