import { setTimeout as delay } from "node:timers/promises";
import type { AdminAppDto } from "@ehr-marketplace/contracts";
import { loadDemoData } from "@ehr-marketplace/dev/demo-data";
import type { IdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { prepareMarketplaceDatabase } from "@ehr-marketplace/dev/postgres";
import { insertSubscribers, registerPractices } from "@ehr-marketplace/dev/practices";
import { withClient } from "@ehr-marketplace/test-kit";
import type { Figure } from "../figures.ts";
import { Client, percentile } from "../measure.ts";
import { type BenchServer, startApi } from "../servers.ts";
import { startBenchReceiver } from "../webhooks/receiver.ts";
import { startWorker } from "../webhooks/workers.ts";

const suspendedSlug = "northwind-scribe";
const otherSlug = "lumen-schedule";
const createsPerSecond = 20;
const quietSeconds = 20;
const newcomers = 50_000;
const practicesPerStatement = 10_000;
const maxSlowdown = 2;
/** Resuming has the pace of pausing and no goal: with 250,000, all of it would take another 21 minutes. */
const maxResumed = 20_000;

/** Creates subscriptions to another app at a steady rate until stopped, and returns the time of each in milliseconds. */
function startCreates(api: BenchServer, token: string, plan: string, nextAlias: () => string) {
  const times: number[] = [];
  const failures: string[] = [];
  const pending = new Set<Promise<void>>();
  const clients = Array.from({ length: 20 }, () => new Client(api.url));
  let sent = 0;
  const create = async (): Promise<void> => {
    const client = clients[sent % clients.length];
    sent += 1;
    const body = { appSlug: otherSlug, orgAlias: nextAlias(), pricingPlanId: plan };
    const began = performance.now();
    const response = await client?.post(`${api.url}/subscriptions`, token, body);
    times.push(performance.now() - began);
    if (response?.status !== 201) failures.push(`${response?.status}: ${response?.body.toString()}`);
  };
  const timer = setInterval(() => {
    const creating: Promise<void> = create()
      .catch((error: unknown) => void failures.push(String(error)))
      .finally(() => pending.delete(creating));
    pending.add(creating);
  }, 1_000 / createsPerSecond);
  return {
    async stop(): Promise<number[]> {
      clearInterval(timer);
      await Promise.all(pending);
      await Promise.all(clients.map((client) => client.close()));
      // On a machine that others keep busy, the API refuses some when it is overloaded.
      if (failures.length > times.length / 100) throw new Error(`${failures.length} creates failed: ${failures[0]}`);
      return times;
    },
  };
}

async function loadSuspended(ownerUrl: string, count: number, callbackUrl: string): Promise<void> {
  for (let start = 0; start < count; start += practicesPerStatement) {
    const length = Math.min(practicesPerStatement, count - start);
    const prefix = `subscriber-${start}`;
    const practices = await registerPractices(ownerUrl, { count: length, callbackUrl, prefix });
    await insertSubscribers(ownerUrl, suspendedSlug, practices);
  }
  await registerPractices(ownerUrl, { count: newcomers, callbackUrl, prefix: "newcomer" });
  await withClient(ownerUrl, async (client) => {
    await client.query("select adopt_apps()");
    await client.query("vacuum (analyze)");
  });
}

/** Figure 4: how fast a suspension pauses subscriptions and a reinstatement resumes them, and what creates of other apps notice of it. */
export async function suspensionThroughput(
  clusterUrl: string,
  issuer: IdentityProvider,
  { count, mediaDirectory }: { count: number; mediaDirectory: string },
): Promise<Figure[]> {
  const database = await prepareMarketplaceDatabase(clusterUrl, "bench_suspension");
  await loadDemoData(database.ownerUrl, {
    publicUrl: "http://127.0.0.1",
    demoAppUrl: "http://127.0.0.1",
    ehrUrl: "http://127.0.0.1",
    mediaDirectory,
  });
  const receiver = await startBenchReceiver();
  await loadSuspended(database.ownerUrl, count, receiver.url);
  const tokens = { TOKEN_ISSUER: issuer.issuer, TOKEN_JWKS_URL: issuer.jwksUrl };
  const api = await startApi(database.serviceUrl, tokens);
  const worker = await startWorker(database.serviceUrl, tokens);
  const client = new Client(api.url);
  const accessToken = (): Promise<string> => issuer.accessToken("operator");
  const app = `${api.url}/admin/apps/${suspendedSlug}`;
  let next = 0;
  const nextAlias = (): string => {
    next += 1;
    return `newcomer-${next}`;
  };
  const operate = async (command: string, body?: object): Promise<void> => {
    const response = await client.post(`${app}/${command}`, await accessToken(), body);
    if (response.status !== 200) throw new Error(`${response.status}: ${response.body.toString()}`);
  };
  const progress = async (): Promise<AdminAppDto["suspension"]> => {
    const { body } = await client.get(app, await accessToken());
    return (JSON.parse(body.toString()) as AdminAppDto).suspension;
  };
  /** Polls until the condition holds, and returns the seconds that it took. */
  const secondsUntil = async (isDone: (suspension: AdminAppDto["suspension"]) => boolean): Promise<number> => {
    const began = performance.now();
    while (!isDone(await progress())) await delay(200);
    return (performance.now() - began) / 1_000;
  };
  const { body: pricing } = await client.get(`${api.url}/apps/${otherSlug}/pricing`);
  const plan = (JSON.parse(pricing.toString()) as { id: string }[])[0]?.id ?? "";

  const measureCreates = async <T>(work: () => Promise<T>): Promise<{ times: number[]; result: T }> => {
    const creates = startCreates(api, await accessToken(), plan, nextAlias);
    const result = await work().catch(async (error: unknown) => {
      await creates.stop();
      throw error;
    });
    return { times: await creates.stop(), result };
  };

  try {
    await measureCreates(() => delay(3_000));
    const measureQuiet = (): Promise<{ times: number[] }> => measureCreates(() => delay(quietSeconds * 1_000));
    const before = await measureQuiet();
    const pausing = await measureCreates(async () => {
      await operate("suspend", { reason: "bench", pauseSubscriptions: true });
      // Without the wait for requests in progress and the last pass, which takes 15 seconds for any number.
      return secondsUntil((suspension) => {
        const { found = 0, paused = 0 } = suspension?.subscriptions ?? {};
        return found > 0 && paused >= found;
      });
    });
    await secondsUntil((suspension) => suspension?.subscriptions?.state === "paused");
    const after = await measureQuiet();
    await operate("reinstate");
    const resumed = Math.min(count, maxResumed);
    const resuming = await secondsUntil(
      (suspension) => suspension === null || (suspension.subscriptions?.resumed ?? 0) >= resumed,
    );
    const p95During = percentile(pausing.times, 0.95);
    const p95Without = percentile([...before.times, ...after.times], 0.95);
    const rate = (number: number, seconds: number): string =>
      `${seconds.toFixed(1)} s, ${Math.round(number / seconds)} a second`;
    return [
      {
        name: `4 pausing ${count} subscriptions, per second`,
        measured: rate(count, pausing.result),
        reference: "",
        value: count / pausing.result,
      },
      {
        name: `4 resuming ${resumed} of them, per second`,
        measured: rate(resumed, resuming),
        reference: "",
        value: resumed / resuming,
      },
      {
        name: "4 POST /subscriptions of another app meanwhile, p95, ratio to without",
        measured: `${p95During.toFixed(1)} ms`,
        reference: `${p95Without.toFixed(1)} ms at ${createsPerSecond} a second`,
        value: p95During / p95Without,
        goal: { atMost: maxSlowdown },
      },
    ];
  } finally {
    await client.close();
    await worker.stop();
    await api.stop();
    await receiver.stop();
  }
}
