import { readFile } from "node:fs/promises";
import { loadDemoData } from "@ehr-marketplace/dev/demo-data";
import type { IdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { prepareMarketplaceDatabase } from "@ehr-marketplace/dev/postgres";
import { withClient } from "@ehr-marketplace/test-kit";
import { insertBilledSubscriptions } from "@ehr-marketplace/tests/support/billed-subscriptions";
import { startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";
import type { Figure } from "../figures.ts";
import { Client, percentile } from "../measure.ts";
import { startApi } from "../servers.ts";
import { loadNewcomers } from "../subscriptions/load-subscriptions.ts";

const newcomers = 100_000;
/** Of each practice that `insertBilledSubscriptions` inserts. */
const appsPerPractice = 6;
const calmSeconds = 30;

/** Figure 3: how long closing a month takes, its memory, and `POST /subscriptions` meanwhile against before. */
export async function closeMonth(
  clusterUrl: string,
  issuer: IdentityProvider,
  { subscriptions, mediaDirectory }: { subscriptions: number; mediaDirectory: string },
): Promise<Figure[]> {
  const { ownerUrl, serviceUrl } = await prepareMarketplaceDatabase(clusterUrl, "bench_close_month");
  const places = { publicUrl: "http://127.0.0.1", demoAppUrl: "http://127.0.0.1", ehrUrl: "http://127.0.0.1" };
  await loadDemoData(ownerUrl, { ...places, mediaDirectory });
  const now = new Date();
  const began = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 6, 1));
  await insertBilledSubscriptions(ownerUrl, Math.ceil(subscriptions / appsPerPractice), began);
  await loadNewcomers(ownerUrl, newcomers);
  await withClient(ownerUrl, async (client) => {
    // Of the months that are over, only the last one is closed, as after an upgrade.
    await client.query("alter table statement_months disable trigger statement_months_reject_additions");
    await client.query(
      `insert into statement_months (month, status, phase, started_at)
       select (date_trunc('month', now() at time zone 'UTC') - interval '2 months' - case when extract(day from now() at time zone 'UTC') < 4
         then interval '1 month' else interval '0' end)::date, 'skipped', 'done', now()`,
    );
    await client.query("alter table statement_months enable trigger statement_months_reject_additions");
    await client.query("vacuum analyze");
  });
  const api = await startApi(serviceUrl, { TOKEN_ISSUER: issuer.issuer, TOKEN_JWKS_URL: issuer.jwksUrl });
  const subscribe = await createSubscriber(api.url, ownerUrl, issuer);
  const calm = await subscribe((seconds) => Promise.resolve(seconds >= calmSeconds));
  const cleanUps: (() => Promise<unknown>)[] = [];
  const environment = { NODE_ENV: "development", METRICS_TOKEN: "bench", LOG_LEVEL: "warn" };
  const worker = await startWorkerProcess((stop) => cleanUps.push(async () => stop()), serviceUrl, { environment });
  const findClosed = (): Promise<{ seconds: number } | undefined> =>
    withClient(ownerUrl, async (client) => {
      const { rows } = await client.query<{ seconds: number }>(
        "select extract(epoch from closed_at - started_at)::float8 as seconds from statement_months where status = 'closed'",
      );
      return rows[0];
    });
  const busy = await subscribe(async () => (await findClosed()) !== undefined);
  const seconds = (await findClosed())?.seconds ?? 0;
  const status = await readFile(`/proc/${worker.child.pid}/status`, "utf8");
  const mebibytes = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024;
  for (const cleanUp of cleanUps) await cleanUp();
  await api.stop();
  const [before, meanwhile] = [percentile(calm, 0.95), percentile(busy, 0.95)];
  const count = subscriptions.toLocaleString("en");
  return [
    { name: `3 closing a month of ${count}`, measured: `${seconds.toFixed(0)} s`, reference: "", value: seconds },
    {
      name: "3 memory of the worker, peak",
      measured: `${mebibytes.toFixed(0)} MiB`,
      reference: "",
      value: mebibytes,
      goal: { atMost: 512 },
    },
    {
      name: "3 POST /subscriptions p95 while a month is closed",
      measured: `${meanwhile.toFixed(1)} ms`,
      reference: `${before.toFixed(1)} ms`,
      value: meanwhile / before,
      goal: { atMost: 1.5 },
    },
  ];
}

/** Subscribes one newcomer after another until `isOver`, which is asked once a second. Returns the latencies. */
async function createSubscriber(url: string, ownerUrl: string, issuer: IdentityProvider) {
  const { rows } = await withClient(ownerUrl, (client) =>
    client.query<{ slug: string; plan: string }>(
      `select apps.slug, plan.id as plan from apps join pricing_plans plan on app_id = apps.id
       where plan.published_at is not null and not coalesce((apps.trust ->> 'baaRequired')::boolean, false) and plan.pricing_model = 'FLAT'
       order by apps.slug limit 1`,
    ),
  );
  const [offer] = rows;
  if (offer === undefined) throw new Error("no app has a flat plan");
  let next = 0;
  return async (isOver: (seconds: number) => Promise<boolean>): Promise<number[]> => {
    const client = new Client(url);
    const token = await issuer.accessToken("operator");
    const latencies: number[] = [];
    const began = performance.now();
    let asked = began;
    for (;;) {
      next += 1;
      const started = performance.now();
      const body = { appSlug: offer.slug, orgAlias: `newcomer-${next}`, pricingPlanId: offer.plan };
      const response = await client.post(`${url}/subscriptions`, token, body);
      if (response.status !== 201) throw new Error(`${response.status}: ${response.body.toString()}`);
      latencies.push(performance.now() - started);
      if (started - asked < 1_000) continue;
      asked = started;
      if (await isOver((started - began) / 1_000)) break;
    }
    await client.close();
    return latencies;
  };
}
