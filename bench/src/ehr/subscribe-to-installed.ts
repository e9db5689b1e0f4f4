import { setTimeout as delay } from "node:timers/promises";
import { insertEhrOrganisations } from "@ehr-marketplace/dev/demo-data";
import { freePort } from "@ehr-marketplace/dev/free-port";
import type { IdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { prepareEhrDatabase } from "@ehr-marketplace/dev/postgres";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { type ServiceDatabase, withClient } from "@ehr-marketplace/test-kit";
import type { Figure } from "../figures.ts";
import { Client, percentile } from "../measure.ts";
import { startApi, startEhr } from "../servers.ts";
import { listBenchApps } from "../webhooks/event-source.ts";
import { measureLatency, prepareBenchDatabase } from "../webhooks/steady-latency.ts";
import { startWorker } from "../webhooks/workers.ts";

const perSecond = 20;

/** Reads the commit timestamp of each subscription's installation. */
async function commitTimes(ehr: ServiceDatabase): Promise<Map<string, number>> {
  const { rows } = await withClient(ehr.ownerUrl, (client) =>
    client.query<{ id: string; at: number }>(
      `select subscription_id as id, extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000 as at from installations`,
    ),
  );
  return new Map(rows.map(({ id, at }) => [id, at]));
}

/** Measures the time from the response to `POST /subscriptions` to the EHR's commit, against the webhook bench's figure 1. */
export async function subscribeToInstalled(
  clusterUrl: string,
  issuer: IdentityProvider,
  seconds: number,
): Promise<Figure[]> {
  const marketplace = await prepareBenchDatabase(clusterUrl, "bench_marketplace");
  const steady = await measureLatency(marketplace, "steady", seconds);

  const ehrDatabase = await prepareEhrDatabase(clusterUrl, "bench_ehr_events");
  const port = await freePort();
  const count = perSecond * (seconds + 2);
  const practices = await registerPractices(marketplace.ownerUrl, {
    count,
    prefix: "events",
    callbackUrl: `http://127.0.0.1:${port}`,
  });
  await insertEhrOrganisations(ehrDatabase.ownerUrl, practices);
  const environment = { TOKEN_ISSUER: issuer.issuer, TOKEN_JWKS_URL: issuer.jwksUrl };
  const api = await startApi(marketplace.serviceUrl, environment);
  const worker = await startWorker(marketplace.serviceUrl);
  const marketplaceUrl = api.url.replace(/\/api\/v1$/, "");
  const ehr = await startEhr(ehrDatabase.serviceUrl, { issuer, marketplaceUrl, port });
  const token = await issuer.accessToken("operator");
  const [app] = await listBenchApps(marketplace.ownerUrl, 1);
  if (app === undefined) throw new Error("no app is published");

  const respondedAt = new Map<string, number>();
  const client = new Client(api.url);
  const subscribe = async (orgAlias: string): Promise<void> => {
    const body = { appSlug: app.slug, orgAlias, pricingPlanId: app.plan_id };
    const response = await client.post(`${api.url}/subscriptions`, token, body);
    if (response.status !== 201) throw new Error(`${response.status}: ${response.body.toString()}`);
    const { id } = JSON.parse(response.body.toString()) as { id: string };
    respondedAt.set(id, performance.timeOrigin + performance.now());
  };
  const began = performance.now();
  const pending: Promise<void>[] = [];
  for (const [nth, { alias }] of practices.entries()) {
    await delay(Math.max(0, began + (nth * 1_000) / perSecond - performance.now()));
    pending.push(subscribe(alias));
  }
  await Promise.all(pending);

  let committed = await commitTimes(ehrDatabase);
  for (const deadline = Date.now() + 30_000; committed.size < count && Date.now() < deadline; ) {
    await delay(200);
    committed = await commitTimes(ehrDatabase);
  }
  if (committed.size < count) throw new Error(`${committed.size} of ${count} were installed`);
  await client.close();
  for (const process of [ehr, worker, api]) await process.stop();
  // Skip the first two seconds as warm-up of the three processes.
  const latencies = [...respondedAt].slice(perSecond * 2).map(([id, at]) => Math.max(0, (committed.get(id) ?? 0) - at));
  const p95 = percentile(latencies, 0.95);
  return [
    {
      name: `4 POST /subscriptions answered to the EHR's commit, p95 at ${perSecond} a second for ${seconds} s`,
      measured: `${p95.toFixed(1)} ms`,
      reference: `${steady.toFixed(1)} ms from commit to receiver at 200 a second`,
      value: p95 / steady,
      goal: { atMost: 2 },
    },
  ];
}
