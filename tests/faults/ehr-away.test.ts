import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { insertEhrOrganisations } from "@ehr-marketplace/dev/demo-data";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { withClient } from "@ehr-marketplace/dev/postgres";
import {
  type ApiProcess,
  ask,
  type Callers,
  type CleanUp,
  cleanUpAfter,
  cloneDatabase,
  eventually,
  letTimePass,
  type Practice,
  registerPractices,
  rounds,
  startApiProcess,
  startCallers,
  startEhrProcess,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support";
import { startRecording } from "./record-changes.ts";

const minute = 60_000;
const day = 24 * 60 * minute;
const environment = { LOG_LEVEL: "error" };

interface Both {
  marketplace: Awaited<ReturnType<typeof cloneDatabase>>;
  ehr: Awaited<ReturnType<typeof cloneDatabase>>;
  practices: Practice[];
  callers: Callers;
  /** The marketplace's. */
  api: ApiProcess;
  /** Always at the same place, as its callback says. */
  startEhr(): Promise<ApiProcess>;
}

/** Practices that the marketplace and the EHR's service both know, and a worker between the two. */
async function startBoth(cleanUp: CleanUp, count: number): Promise<Both> {
  const port = await freePort();
  const marketplace = await cloneDatabase(cleanUp, "demo");
  const ehr = await cloneDatabase(cleanUp, "ehr");
  const practices = await registerPractices(marketplace.ownerUrl, { count, callbackUrl: `http://127.0.0.1:${port}` });
  await insertEhrOrganisations(ehr.ownerUrl, practices);
  await startWorkerProcess(cleanUp, marketplace.serviceUrl, { environment });
  const callers = await startCallers(cleanUp);
  const api = await startApiProcess(cleanUp, marketplace.serviceUrl, {
    environment: { ...environment, ...callers.environment },
  });
  const startEhr = (): Promise<ApiProcess> =>
    startEhrProcess(cleanUp, ehr.serviceUrl, { environment, port, marketplaceUrl: api.url });
  return { marketplace, ehr, practices, callers, api, startEhr };
}

const inMarketplace = `
  select alias || ' ' || slug || ' ' || subscriptions.id || ' ' || subscriptions.status as line from subscriptions
  join organisations on organisations.id = organisation_id join apps on apps.id = app_id
  where subscriptions.status <> 'cancelled' order by 1`;
const inEhr = `
  select org_alias || ' ' || app_slug || ' ' || subscription_id || ' ' || status as line from installations
  where status <> 'removed' order by 1`;

async function lines(ownerUrl: string, sql: string): Promise<string[]> {
  const { rows } = await withClient(ownerUrl, (client) => client.query<{ line: string }>(sql));
  return rows.map(({ line }) => line);
}

async function areEqual({ marketplace, ehr }: Both): Promise<boolean> {
  const [subscribed, installed] = [await lines(marketplace.ownerUrl, inMarketplace), await lines(ehr.ownerUrl, inEhr)];
  return subscribed.length > 0 && JSON.stringify(subscribed) === JSON.stringify(installed);
}

/** Time passes for the marketplace, unless the worker is at the same rows: then a little later. */
async function hurry({ marketplace }: Both, milliseconds: number): Promise<void> {
  await letTimePass(marketplace.ownerUrl, milliseconds).catch((error: unknown) => {
    if ((error as { code?: string }).code !== "40P01") throw error;
  });
  await delay(500);
}

const underWay = "select id::text as line from deliveries where status in ('waiting', 'queued')";

/** What the marketplace would try again some time, it does soon. Equal for good, and not by chance: nothing is under way. */
async function converge(both: Both): Promise<void> {
  await eventually("the installations are the subscriptions", 90_000, async () => {
    if ((await lines(both.marketplace.ownerUrl, underWay)).length === 0 && (await areEqual(both))) return true;
    await hurry(both, 20 * minute);
    return false;
  });
  assert.deepEqual(await lines(both.ehr.ownerUrl, inEhr), await lines(both.marketplace.ownerUrl, inMarketplace));
}

test("killed with -9 and away for days while subscriptions change, the EHR's service converges on its return with no hand", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const both = await startBoth(cleanUp, 4);
  const { callers, api } = both;
  const operate = async (path: string, body?: object): Promise<SubscriptionDto> => {
    const asking = { method: "POST", ...(body === undefined ? {} : { body }) };
    const answer = await ask(api.url, path, callers.token("operator"), asking);
    assert.ok(answer.ok, await answer.clone().text());
    return (await answer.json()) as SubscriptionDto;
  };
  const { rows: offers } = await withClient(both.marketplace.ownerUrl, (client) =>
    client.query<{ slug: string; id: string }>(
      `select distinct on (slug) slug, pricing_plans.id from apps join pricing_plans on app_id = apps.id
       where slug in ('northwind-scribe', 'cuffline', 'quiet-room')`,
    ),
  );
  const subscribe = ({ alias }: Practice, nth: number): Promise<SubscriptionDto> =>
    operate("/subscriptions", { appSlug: offers[nth]?.slug, orgAlias: alias, pricingPlanId: offers[nth]?.id });
  const heldCount = async (): Promise<number> =>
    (await lines(both.marketplace.ownerUrl, "select id::text as line from recipients where status = 'held'")).length;

  const ehr = await both.startEhr();
  const first = await Promise.all(
    both.practices.flatMap((practice) => [subscribe(practice, 0), subscribe(practice, 1)]),
  );
  await eventually("all is installed", 20_000, () => areEqual(both));

  ehr.child.kill("SIGKILL");
  await ehr.ended;
  const heldBefore = await heldCount();
  for (const practice of both.practices) {
    const [one, other] = first.filter(({ orgAlias }) => orgAlias === practice.alias);
    assert.ok(one && other);
    await operate(`/subscriptions/${one.id}/cancel`);
    await operate(`/subscriptions/${other.id}/pause`, { reason: "ORG_REQUEST" });
    await operate(`/subscriptions/${other.id}/resume`);
    await subscribe(practice, 0);
    const gone = await subscribe(practice, 2);
    await operate(`/subscriptions/${gone.id}/cancel`);
    await operate(`/subscriptions/${other.id}/pause`, { reason: "NON_PAYMENT" });
  }
  await eventually("its practices are held", 40_000, async () => {
    if ((await heldCount()) === heldBefore + both.practices.length) return true;
    await hurry(both, 2 * minute);
    return false;
  });
  for (let days = 0; days < 3; days += 1) await hurry(both, day);
  assert.equal(await areEqual(both), false);
  assert.equal((await lines(both.ehr.ownerUrl, inEhr)).length, first.length);

  await both.startEhr();
  await converge(both);
  const failed = await lines(
    both.marketplace.ownerUrl,
    "select id::text as line from deliveries where status = 'failed'",
  );
  assert.deepEqual(failed, []);
});

test("killed with -9 again and again under a load of events, it loses none", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const both = await startBoth(cleanUp, 40);
  let victim = await both.startEhr();
  const recorder = await startRecording(cleanUp, both.marketplace.serviceUrl, both.practices, 50, { cancels: true });
  const kills = rounds(2, 20);
  for (let round = 0; round < kills; round += 1) {
    await delay(randomInt(300, 2_000));
    victim.child.kill("SIGKILL");
    await victim.ended;
    victim = await both.startEhr();
  }
  const recorded = await recorder.stop();
  await converge(both);
  const events = [...recorded.values()].reduce((sum, times) => sum + times.length, 0);
  t.diagnostic(
    `${kills} kills under 50 events a second: ${recorded.size} subscriptions, ${events} events, all as told`,
  );
});
