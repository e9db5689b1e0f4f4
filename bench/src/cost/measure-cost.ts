import { setTimeout as delay } from "node:timers/promises";
import type { IdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { loopbackNetworks } from "@ehr-marketplace/dev/service-environments";
import { type ServiceDatabase, withClient } from "@ehr-marketplace/test-kit";
import type pg from "pg";
import { Client, percentile } from "../measure.ts";
import { listBenchApps } from "../webhooks/event-source.ts";
import { runAtRate } from "../webhooks/latency.ts";
import { startBenchReceiver } from "../webhooks/receiver.ts";
import { prepareBenchDatabase } from "../webhooks/steady-latency.ts";
import { measureBareInsert } from "./bare-insert.ts";
import { type CountedProcess, startCountedApi, startCountedWorker } from "./counted-processes.ts";
import { type CostlyStatement, readCostliestStatements, readCounters, readReportedRows } from "./database-counters.ts";
import { readPostgresCpuMs } from "./used-cpu.ts";

export interface MeasuredSystem {
  clusterUrl: string;
  postmasterPid: number;
  issuer: IdentityProvider;
  /** A directory for CPU profiles of both processes. */
  profiles: string | undefined;
}

export interface Scenario {
  perSecond: number;
  seconds: number;
  /** Whether the practices' EHR is a second recipient. Without it, each change leaves a delivery that waits for a callback. */
  withEhr: boolean;
}

export interface Cost extends Scenario {
  changes: number;
  /** Changes that got a response other than 200, or could not be sent because all subscriptions were being changed. */
  refused: number;
  /** Everything below is for one change. */
  cpuMs: { api: number; worker: number; postgres: number };
  /** The CPU time of a bare insert by `pg`, in client and server: how fast the machine was. */
  bareCpuMs: number;
  statements: number;
  roundTrips: number;
  commits: number;
  walBytes: number;
  rows: number;
  /** From the response to the arrival at the vendor's endpoint, in milliseconds. */
  latency: { p50: number; p95: number; p99: number };
  costliest: CostlyStatement[];
}

const subscriptions = 400;
const warmUpSeconds = 3;
/** A vendor of whose developer the identity provider issues tokens. */
const vendor = { slug: "northwind-health", developer: "northwind-developer" } as const;

/** Pauses and resumes subscriptions at a steady rate, each change with an idempotency key, and measures what that costs. */
export async function measureCost(system: MeasuredSystem, scenario: Scenario): Promise<Cost> {
  const name = `cost_${scenario.perSecond}_${scenario.withEhr ? "with" : "without"}_ehr`;
  console.error(`measuring ${scenario.perSecond} changes a second ${scenario.withEhr ? "with" : "without"} the EHR …`);
  const database = await prepareBenchDatabase(system.clusterUrl, name);
  const superuserUrl = system.clusterUrl.replace(/\/postgres$/, `/${name}`);
  const receiver = await startBenchReceiver();
  const issuer = { TOKEN_ISSUER: system.issuer.issuer, TOKEN_JWKS_URL: system.issuer.jwksUrl };
  const environment = { ...issuer, VENDOR_ALLOWED_NETWORKS: loopbackNetworks.join(",") };
  const api = await startCountedApi(database.serviceUrl, { environment, profiles: system.profiles });
  const worker = await startCountedWorker(database.serviceUrl, { environment, profiles: system.profiles }).catch(
    async (error: unknown) => {
      await api.stop();
      await receiver.stop();
      throw error;
    },
  );
  try {
    return await withClient(superuserUrl, async (client) => {
      await client.query("create extension pg_stat_statements");
      const changes = await subscribeAll(system, database, api, {
        url: receiver.url,
        callbackUrl: scenario.withEhr ? receiver.url : null,
      });
      const deliveriesPerChange = scenario.withEhr ? 2 : 1;
      const settled = () => waitUntilReported(client, deliveriesPerChange);
      await changes.run(scenario.perSecond, warmUpSeconds);
      await settled();
      await receiver.arrivals();
      await client.query("select pg_stat_statements_reset()");
      const usage = () => readUsage(client, system.postmasterPid, { api, worker });

      const before = await usage();
      const made = await changes.run(scenario.perSecond, scenario.seconds);
      await settled();
      const after = await usage();

      const count = made.responses.length;
      const each = (read: (usage: Awaited<ReturnType<typeof readUsage>>) => number): number =>
        (read(after) - read(before)) / count;
      const arrivals = await receiver.arrivals();
      const latencies = await latenciesOf(client, made.responses, arrivals);
      return {
        ...scenario,
        changes: count,
        refused: made.refused,
        cpuMs: {
          api: each(({ cpuMs }) => cpuMs.api),
          worker: each(({ cpuMs }) => cpuMs.worker),
          postgres: each(({ cpuMs }) => cpuMs.postgres),
        },
        bareCpuMs: await measureBareInsert(database.ownerUrl),
        statements: each(({ counters }) => counters.statements),
        roundTrips: each(({ roundTrips }) => roundTrips),
        commits: each(({ counters }) => counters.commits),
        walBytes: each(({ counters }) => counters.walBytes),
        rows: each(({ counters }) => counters.rows),
        latency: {
          p50: percentile(latencies, 0.5),
          p95: percentile(latencies, 0.95),
          p99: percentile(latencies, 0.99),
        },
        costliest: await readCostliestStatements(client, 25),
      };
    });
  } finally {
    await worker.stop();
    await api.stop();
    await receiver.stop();
  }
}

async function readUsage(
  client: pg.Client,
  postmasterPid: number,
  { api, worker }: { api: CountedProcess; worker: CountedProcess },
) {
  const [apiMs, workerMs, postgres] = await Promise.all([
    api.cpuMs(),
    worker.cpuMs(),
    readPostgresCpuMs(postmasterPid),
  ]);
  return {
    cpuMs: { api: apiMs, worker: workerMs, postgres },
    roundTrips: (await api.roundTrips()) + (await worker.roundTrips()),
    counters: await readCounters(client),
  };
}

/** Waits until all deliveries are settled and the backends have reported what they wrote. */
async function waitUntilReported(client: pg.Client, deliveriesPerChange: number): Promise<void> {
  const deadline = Date.now() + 90_000;
  for (;;) {
    const { rows } = await client.query<{ events: number; attempts: number; open: number }>(
      `select (select count(*)::int from events) as events, (select count(*)::int from delivery_attempts) as attempts,
         (select count(*)::int from deliveries where status = 'queued') as open`,
    );
    const [found] = rows;
    const reported = await readReportedRows(client);
    const isReported = reported.events === found?.events && reported.settledAttempts >= (found?.attempts ?? 0);
    const isDelivered = found !== undefined && found.open === 0 && found.attempts >= found.events * deliveriesPerChange;
    if (isDelivered && isReported) return;
    if (Date.now() > deadline)
      throw new Error(`not settled: ${JSON.stringify({ found, reported, deliveriesPerChange })}`);
    await delay(100);
  }
}

interface Response {
  subscriptionId: string;
  sequence: number;
  at: number;
}

interface Changes {
  run(perSecond: number, seconds: number): Promise<{ responses: Response[]; refused: number }>;
}

/** Registers the vendor's endpoint, and subscribes practices to the vendor's app. */
async function subscribeAll(
  { issuer }: MeasuredSystem,
  database: ServiceDatabase,
  api: { url: string },
  { url, callbackUrl }: { url: string; callbackUrl: string | null },
): Promise<Changes> {
  const practices = await registerPractices(database.ownerUrl, { count: subscriptions, callbackUrl });
  const [app] = await listBenchApps(database.ownerUrl, 1);
  if (app === undefined) throw new Error("no app is published");
  await withClient(database.ownerUrl, (client) =>
    client.query("update vendors set slug = $1 where id = $2", [vendor.slug, app.vendor_id]),
  );
  const idle: Client[] = [];
  const token = await issuer.accessToken("operator");
  const post = async (path: string, body: object | undefined, caller = token) => {
    // As many connections as changes are in progress.
    const client = idle.pop() ?? new Client(api.url);
    const key = { "idempotency-key": crypto.randomUUID() };
    try {
      return await client.post(`${api.url}${path}`, caller, body, key);
    } finally {
      idle.push(client);
    }
  };
  const events = ["subscription.created", "subscription.paused", "subscription.resumed"];
  const endpoint = { url, secret: "a secret of the bench's endpoint, long enough", events };
  const registered = await post("/developer/webhooks", endpoint, await issuer.accessToken(vendor.developer));
  if (registered.status !== 201) throw new Error(`${registered.status}: ${registered.body.toString()}`);
  const subscribed: { id: string; sequence: number; paused: boolean }[] = [];
  for (const { alias } of practices) {
    const response = await post("/subscriptions", { appSlug: app.slug, orgAlias: alias, pricingPlanId: app.plan_id });
    if (response.status !== 201) throw new Error(`${response.status}: ${response.body.toString()}`);
    const { id } = JSON.parse(response.body.toString()) as { id: string };
    subscribed.push({ id, sequence: 1, paused: false });
  }
  return {
    async run(perSecond, seconds) {
      const responses: Response[] = [];
      let refused = 0;
      await runAtRate(perSecond, seconds, async () => {
        const one = subscribed.shift();
        // The system is so slow that all subscriptions are being changed.
        if (one === undefined) {
          refused += 1;
          return;
        }
        const body = one.paused ? undefined : { reason: "ORG_REQUEST" };
        const { status, body: sent } = await post(`/subscriptions/${one.id}/${one.paused ? "resume" : "pause"}`, body);
        if (status === 200) {
          one.paused = !one.paused;
          one.sequence += 1;
          const at = performance.timeOrigin + performance.now();
          responses.push({ subscriptionId: one.id, sequence: one.sequence, at });
        } else {
          if (refused === 0) console.error(`refused: ${status} ${sent.toString()}`);
          refused += 1;
        }
        subscribed.push(one);
      });
      return { responses, refused };
    },
  };
}

/** Finds the vendor's delivery of each change, and when it arrived. */
async function latenciesOf(client: pg.Client, responses: Response[], arrivals: Map<string, number>): Promise<number[]> {
  const { rows } = await client.query<{ id: string; key: string }>(
    `select deliveries.id, subscription_id || ' ' || sequence as key from deliveries
     join webhook_endpoints on webhook_endpoints.id = recipient_id`,
  );
  const ids = new Map(rows.map(({ id, key }) => [key, id]));
  return responses.map(({ subscriptionId, sequence, at }) => {
    const arrivedAt = arrivals.get(ids.get(`${subscriptionId} ${sequence}`) ?? "");
    if (arrivedAt === undefined) throw new Error(`change ${sequence} of ${subscriptionId} did not arrive`);
    return arrivedAt - at;
  });
}
