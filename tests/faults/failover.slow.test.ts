import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { startDebianCluster } from "@ehr-marketplace/dev/postgres";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import {
  type CleanUp,
  cleanUpAfter,
  eventually,
  getSharedPart,
  type ServiceDatabase,
  startNetworkFaultProxy,
  urlsFor,
  withClient,
} from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { startApiProcess, startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";
import { copyData } from "../runner/cluster-images.ts";
import { templates } from "../runner/templates.ts";

const copy = (from: string, to: string): Promise<unknown> => promisify(execFile)("cp", ["-a", from, to]);

/** Starts a primary with the demo catalog, and a standby that is a copy of it and replays nothing. */
async function startPair(cleanUp: CleanUp, prepare: (ownerUrl: string) => Promise<void>) {
  const { directory, remove } = await copyData(await getSharedPart("image/oldest"));
  cleanUp(remove);
  const start = (data: string) => startDebianCluster({ directory: data, settings: { wal_level: "replica" } });
  const { database, login } = templates.demo;
  // The image was made with wal_level=minimal, which no standby can begin with.
  const first = await start(directory);
  try {
    await prepare(urlsFor(first.url, database, login).ownerUrl);
  } finally {
    await first.stop();
  }
  const standbyDirectory = `${directory}-standby`;
  await copy(directory, standbyDirectory);
  // Copied for its owner: PostgreSQL deletes it when the standby is promoted.
  await copy(join(directory, "PG_VERSION"), join(standbyDirectory, "standby.signal"));
  const startDemo = async (data: string): Promise<ServiceDatabase> => {
    const cluster = await start(data);
    cleanUp(() => cluster.stop());
    return urlsFor(cluster.url, database, login);
  };
  return { primary: await startDemo(directory), standby: await startDemo(standbyDirectory) };
}

test("processes leave a standby and a read-only primary by themselves, and serve once they reach a primary", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const callers = await fetchCallers();
  const receiver = await startReceiver(cleanUp);
  let practices: { alias: string }[] = [];
  const { primary, standby } = await startPair(cleanUp, async (ownerUrl) => {
    practices = await registerPractices(ownerUrl, { count: 100, callbackUrl: receiver.url });
  });
  const proxy = await startNetworkFaultProxy(cleanUp, primary.serviceUrl);
  const environment = { ...callers.environment, LOG_LEVEL: "warn" };
  const api = await startApiProcess(cleanUp, proxy.url, { environment });
  const worker = await startWorkerProcess(cleanUp, proxy.url, { environment });
  const [plan] = (await (await sendApiRequest(api.url, "/apps/northwind-scribe/pricing", undefined)).json()) as {
    id: string;
  }[];

  const subscribe = async () => {
    const orgAlias = practices.pop()?.alias;
    const body = { appSlug: "northwind-scribe", orgAlias, pricingPlanId: plan?.id };
    const response = await sendApiRequest(api.url, "/subscriptions", callers.token("operator"), { body });
    return { orgAlias, response };
  };
  const whyNotReady = async (url: string): Promise<unknown> => {
    const response = await fetch(`${url}/health/ready`);
    return response.ok ? undefined : (await assertProblem(response, 503, "unavailable"))["detail"];
  };
  const assertReadOnly = async (): Promise<void> => {
    for (const { url } of [api, worker]) {
      await eventually(
        "it says why it isn't ready",
        60_000,
        async () => (await whyNotReady(url)) === "Not ready: database-read-only.",
      );
    }
    await assertProblem((await subscribe()).response, 503, "unavailable");
  };
  const assertServes = async (): Promise<void> => {
    for (const { url } of [api, worker]) {
      await eventually("it is ready", 60_000, async () => (await whyNotReady(url)) === undefined);
    }
    let created: string | undefined;
    let refused = 0;
    await eventually("a change succeeds", 60_000, async () => {
      const { orgAlias, response } = await subscribe();
      if (response.status === 201) created = orgAlias;
      else refused += 1;
      return created !== undefined;
    });
    assert.ok(refused <= 10, `${refused} changes were refused: more than the pool has connections`);
    await eventually("its event arrives", 60_000, () =>
      receiver.received.some(({ event }) => event.subscription.orgAlias === created),
    );
  };
  const countListeners = (ownerUrl: string): Promise<number | null> =>
    withClient(ownerUrl, async (client) => {
      const listeners = "select from pg_stat_activity where application_name like 'marketplace-% listener'";
      return (await client.query(listeners)).rowCount;
    });
  await assertServes();

  // A fail-over after which the address still points to a server that is only a standby now.
  proxy.redirect(standby.serviceUrl);
  proxy.interrupt("reset");
  proxy.restore();
  await assertReadOnly();
  // The address changes, and the connections to the standby stay open.
  proxy.redirect(primary.serviceUrl);
  await assertServes();
  await eventually("both listen on the primary", 60_000, async () => (await countListeners(primary.ownerUrl)) === 2);

  // A primary that is fenced while its connections stay open, such as one that a fail-over has replaced.
  const fence = (value: string): Promise<unknown> =>
    withClient(primary.ownerUrl, async (client) => {
      await client.query(`alter system set default_transaction_read_only = ${value}`);
      await client.query("select pg_reload_conf()");
    });
  await fence("on");
  await assertReadOnly();
  await eventually("nobody listens there", 60_000, async () => (await countListeners(primary.ownerUrl)) === 0);
  await fence("off");
  await assertServes();

  // The standby becomes the primary under its connections.
  proxy.redirect(standby.serviceUrl);
  proxy.interrupt("reset");
  proxy.restore();
  await assertReadOnly();
  await withClient(standby.ownerUrl, (client) => client.query("select pg_promote()"));
  await assertServes();
  await eventually("both listen there", 60_000, async () => (await countListeners(standby.ownerUrl)) === 2);
});
