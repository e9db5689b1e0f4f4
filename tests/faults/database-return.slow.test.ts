import assert from "node:assert/strict";
import { test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { assertPrompt, cleanUpAfter, eventually, rounds, withClient } from "@ehr-marketplace/test-kit";
import { fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import {
  type ServiceProcess,
  startApiProcess,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support/service-process";
import { startCrashableCluster } from "./crashable-cluster.ts";

const maxMs = 3_000;

const countFailedReconnects = ({ logEntries }: ServiceProcess): number =>
  logEntries.filter(({ msg }) => msg === "database listener isn't connected; reconnecting").length;

test("after a crash of the database, changes succeed, events arrive and listeners are connected within 3 s of its return", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const cluster = await startCrashableCluster(cleanUp);
  const { ownerUrl, serviceUrl } = cluster;
  const callers = await fetchCallers();
  const receiver = await startReceiver(cleanUp);
  const practices = await registerPractices(ownerUrl, { count: 400, callbackUrl: receiver.url });
  const environment = { ...callers.environment, LOG_LEVEL: "warn" };
  const api = await startApiProcess(cleanUp, serviceUrl, { environment });
  const worker = await startWorkerProcess(cleanUp, serviceUrl, { environment });
  const priced = await sendApiRequest(api.url, "/apps/northwind-scribe/pricing", undefined);
  const [plan] = (await priced.json()) as { id: string }[];

  /** Subscribes another practice. Returns its alias, or undefined if the API couldn't. */
  const subscribe = async (): Promise<string | undefined> => {
    const orgAlias = practices.pop()?.alias;
    const body = { appSlug: "northwind-scribe", orgAlias, pricingPlanId: plan?.id };
    const response = await sendApiRequest(api.url, "/subscriptions", callers.token("operator"), { body });
    await response.arrayBuffer();
    if (response.status === 503) return undefined;
    assert.equal(response.status, 201);
    return orgAlias;
  };
  const subscribeOnceUp = async (): Promise<string | undefined> => {
    let alias: string | undefined;
    await eventually("a change succeeds", 30_000, async () => {
      alias = await subscribe();
      return alias !== undefined;
    });
    return alias;
  };
  const hasArrived = (alias: string | undefined): boolean =>
    receiver.received.some(({ event }) => event.subscription.orgAlias === alias);
  const countListeners = (): Promise<number | null> =>
    withClient(ownerUrl, async (client) => {
      const { rowCount } = await client.query(
        "select from pg_stat_activity where application_name like 'marketplace-% listener'",
      );
      return rowCount;
    });

  const measured: Record<"change" | "arrival" | "listeners", number[]> = { change: [], arrival: [], listeners: [] };
  const crashAndRestart = async (): Promise<void> => {
    const alias = await subscribeOnceUp();
    await eventually("an event arrives", 30_000, () => hasArrived(alias));
    const reconnects = [api, worker].map(countFailedReconnects);
    await cluster.crash();
    // After so many failures their back-off has reached its maximum.
    for (const [index, each] of [api, worker].entries()) {
      const count = (reconnects[index] ?? 0) + 6;
      await eventually("the listener retries", 30_000, () => countFailedReconnects(each) >= count);
    }
    await cluster.restart();
  };
  const recover = async (): Promise<void> => {
    const returnedAt = performance.now();
    const elapsedMs = (): number => Math.round(performance.now() - returnedAt);
    const alias = await subscribeOnceUp();
    measured.change.push(elapsedMs());
    await eventually("its event arrives", 30_000, () => hasArrived(alias));
    measured.arrival.push(elapsedMs());
    await eventually("both listeners are connected", 30_000, async () => (await countListeners()) === 2);
    measured.listeners.push(elapsedMs());
  };
  for (let round = 0; round < rounds(2, 10); round += 1) {
    await assertPrompt(maxMs, recover, crashAndRestart);
  }
  t.diagnostic(`from the database's return, in ms: ${JSON.stringify(measured)}`);
});
