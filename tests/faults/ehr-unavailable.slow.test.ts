import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { insertEhrOrganisations } from "@ehr-marketplace/dev/demo-data";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { type Practice, registerPractices } from "@ehr-marketplace/dev/practices";
import { type CleanUp, cleanUpAfter, cloneDatabase, eventually, rounds, withClient } from "@ehr-marketplace/test-kit";
import { advanceTime } from "@ehr-marketplace/tests/support/advance-time";
import { type Callers, fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import {
  type ServiceProcess,
  startApiProcess,
  startEhrProcess,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support/service-process";
import { startChangeLoad } from "./change-load.ts";

const minute = 60_000;
const day = 24 * 60 * minute;
const environment = { LOG_LEVEL: "error" };

interface Services {
  marketplace: Awaited<ReturnType<typeof cloneDatabase>>;
  ehr: Awaited<ReturnType<typeof cloneDatabase>>;
  practices: Practice[];
  callers: Callers;
  /** The marketplace's API. */
  api: ServiceProcess;
  /** Starts the EHR's API on the port that the practices' callback URL has. */
  startEhr(): Promise<ServiceProcess>;
}

/** Starts the marketplace's API and a worker, with practices that are registered in the marketplace and in the EHR. */
async function startServices(cleanUp: CleanUp, count: number): Promise<Services> {
  const port = await freePort();
  const marketplace = await cloneDatabase(cleanUp, "demo");
  const ehr = await cloneDatabase(cleanUp, "ehr");
  const practices = await registerPractices(marketplace.ownerUrl, { count, callbackUrl: `http://127.0.0.1:${port}` });
  await insertEhrOrganisations(ehr.ownerUrl, practices);
  await startWorkerProcess(cleanUp, marketplace.serviceUrl, { environment });
  const callers = await fetchCallers();
  const api = await startApiProcess(cleanUp, marketplace.serviceUrl, {
    environment: { ...environment, ...callers.environment },
  });
  const startEhr = (): Promise<ServiceProcess> =>
    startEhrProcess(cleanUp, ehr.serviceUrl, { environment, port, marketplaceUrl: api.url });
  return { marketplace, ehr, practices, callers, api, startEhr };
}

const liveSubscriptions = `
  select alias || ' ' || slug || ' ' || subscriptions.id || ' ' || subscriptions.status as line from subscriptions
  join organisations on organisations.id = organisation_id join apps on apps.id = app_id
  where subscriptions.status <> 'cancelled' order by 1`;
const liveInstallations = `
  select org_alias || ' ' || app_slug || ' ' || subscription_id || ' ' || status as line from installations
  where status <> 'removed' order by 1`;

async function readLines(ownerUrl: string, sql: string): Promise<string[]> {
  const { rows } = await withClient(ownerUrl, (client) => client.query<{ line: string }>(sql));
  return rows.map(({ line }) => line);
}

async function isConverged({ marketplace, ehr }: Services): Promise<boolean> {
  const [subscribed, installed] = [
    await readLines(marketplace.ownerUrl, liveSubscriptions),
    await readLines(ehr.ownerUrl, liveInstallations),
  ];
  return subscribed.length > 0 && JSON.stringify(subscribed) === JSON.stringify(installed);
}

/** Advances the marketplace's time; a deadlock with the worker is ignored, because callers repeat it. */
async function tryAdvanceTime({ marketplace }: Services, milliseconds: number): Promise<void> {
  await advanceTime(marketplace.ownerUrl, milliseconds).catch((error: unknown) => {
    if ((error as { code?: string }).code !== "40P01") throw error;
  });
  await delay(500);
}

const unsettledDeliveries = "select id::text as line from deliveries where status in ('waiting', 'queued')";

/** Advances time until installations match subscriptions and no delivery is unsettled, so that the match is final. */
async function waitUntilConverged(services: Services): Promise<void> {
  await eventually("installations match subscriptions", 240_000, async () => {
    if (
      (await readLines(services.marketplace.ownerUrl, unsettledDeliveries)).length === 0 &&
      (await isConverged(services))
    )
      return true;
    await tryAdvanceTime(services, 20 * minute);
    return false;
  });
  assert.deepEqual(
    await readLines(services.ehr.ownerUrl, liveInstallations),
    await readLines(services.marketplace.ownerUrl, liveSubscriptions),
  );
}

test("the EHR's installations converge without intervention after kill -9 and days of downtime with changing subscriptions", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const services = await startServices(cleanUp, 4);
  const { callers, api } = services;
  const operate = async (path: string, body?: object): Promise<SubscriptionDto> => {
    const options = { method: "POST", ...(body === undefined ? {} : { body }) };
    const response = await sendApiRequest(api.url, path, callers.token("operator"), options);
    assert.ok(response.ok, await response.clone().text());
    return (await response.json()) as SubscriptionDto;
  };
  const { rows: offers } = await withClient(services.marketplace.ownerUrl, (client) =>
    client.query<{ slug: string; id: string }>(
      `select distinct on (slug) slug, pricing_plans.id from apps join pricing_plans on app_id = apps.id
       where slug in ('northwind-scribe', 'cuffline', 'quiet-room')`,
    ),
  );
  const subscribe = ({ alias }: Practice, nth: number): Promise<SubscriptionDto> =>
    operate("/subscriptions", { appSlug: offers[nth]?.slug, orgAlias: alias, pricingPlanId: offers[nth]?.id });
  const countHeldRecipients = async (): Promise<number> =>
    (await readLines(services.marketplace.ownerUrl, "select id::text as line from recipients where status = 'held'"))
      .length;

  const ehr = await services.startEhr();
  const first = await Promise.all(
    services.practices.flatMap((practice) => [subscribe(practice, 0), subscribe(practice, 1)]),
  );
  await eventually("all apps are installed", 90_000, () => isConverged(services));

  ehr.child.kill("SIGKILL");
  await ehr.exited;
  const heldBefore = await countHeldRecipients();
  for (const practice of services.practices) {
    const [one, other] = first.filter(({ orgAlias }) => orgAlias === practice.alias);
    assert.ok(one && other);
    await operate(`/subscriptions/${one.id}/cancel`);
    await operate(`/subscriptions/${other.id}/pause`, { reason: "ORG_REQUEST" });
    await operate(`/subscriptions/${other.id}/resume`);
    await subscribe(practice, 0);
    const cancelled = await subscribe(practice, 2);
    await operate(`/subscriptions/${cancelled.id}/cancel`);
    await operate(`/subscriptions/${other.id}/pause`, { reason: "NON_PAYMENT" });
  }
  await eventually("the practices' recipients are held", 120_000, async () => {
    if ((await countHeldRecipients()) === heldBefore + services.practices.length) return true;
    await tryAdvanceTime(services, 2 * minute);
    return false;
  });
  for (let days = 0; days < 3; days += 1) await tryAdvanceTime(services, day);
  assert.equal(await isConverged(services), false);
  assert.equal((await readLines(services.ehr.ownerUrl, liveInstallations)).length, first.length);

  await services.startEhr();
  await waitUntilConverged(services);
  const failed = await readLines(
    services.marketplace.ownerUrl,
    "select id::text as line from deliveries where status = 'failed'",
  );
  assert.deepEqual(failed, []);
});

test("repeated kill -9 of the EHR under a load of events loses none", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const services = await startServices(cleanUp, 40);
  let victim = await services.startEhr();
  const load = await startChangeLoad(cleanUp, services.marketplace.serviceUrl, services.practices, 50, {
    cancels: true,
  });
  const kills = rounds(2, 20);
  for (let round = 0; round < kills; round += 1) {
    await delay(randomInt(300, 2_000));
    victim.child.kill("SIGKILL");
    await victim.exited;
    victim = await services.startEhr();
  }
  const recorded = await load.stop();
  await waitUntilConverged(services);
  const events = [...recorded.values()].reduce((sum, times) => sum + times.length, 0);
  t.diagnostic(
    `${kills} kills under 50 events a second: ${recorded.size} subscriptions, ${events} events, all applied`,
  );
});
