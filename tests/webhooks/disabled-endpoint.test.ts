import assert from "node:assert/strict";
import { test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { advanceTime } from "@ehr-marketplace/tests/support/advance-time";
import { fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { type Received, startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { startApiProcess, startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";

const day = 24 * 60 * 60_000;
/** More than the first batches after enabling contain. */
const practices = 30;
const lifecycle = ["subscription.created", "subscription.paused", "subscription.resumed", "subscription.cancelled"];

test("an endpoint that is enabled after three days receives all events in order, and none has expired", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const callers = await fetchCallers();
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const ehr = await startReceiver(cleanUp);
  const vendor = await startReceiver(cleanUp);
  vendor.respond = (_received, response) => response.writeHead(410).end();
  const registered = await registerPractices(ownerUrl, { count: practices, callbackUrl: ehr.url });
  const environment = { ...callers.environment, LOG_LEVEL: "error" };
  const api = await startApiProcess(cleanUp, serviceUrl, { environment });
  await startWorkerProcess(cleanUp, serviceUrl, { environment });

  const post = async <T>(who: "operator" | "northwind-developer", path: string, body?: object): Promise<T> => {
    const response = await sendApiRequest(api.url, path, callers.token(who), { method: "POST", ...(body && { body }) });
    assert.ok(response.ok, await response.clone().text());
    return (await response.json()) as T;
  };
  const register = async (path: string): Promise<string> => {
    const body = { url: `${vendor.url}${path}`, secret: "a secret of sixteen or more", events: lifecycle };
    return (await post<{ id: string }>("northwind-developer", "/developer/webhooks", body)).id;
  };
  const statuses = (recipient: string): Promise<Record<string, number>> =>
    withClient(ownerUrl, async (client) => {
      const statement = "select status, count(*)::int from deliveries where recipient_id = $1 group by status";
      const { rows } = await client.query<{ status: string; count: number }>(statement, [recipient]);
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
    });
  const isDisabled = (recipient: string): Promise<boolean> =>
    withClient(ownerUrl, async (client) => {
      const { rows } = await client.query("select status from recipients where id = $1", [recipient]);
      return rows[0]?.status === "disabled";
    });
  const assertCompleteLifecycles = (received: Received[], ids: string[]): void => {
    assert.equal(received.length, ids.length * lifecycle.length);
    for (const id of ids) {
      const events = received.filter(({ event }) => event.subscription.id === id);
      assert.deepEqual(
        events.map(({ event }) => event.event),
        lifecycle,
        id,
      );
    }
  };

  const unavailable = await register("/unavailable");
  const forgotten = await register("/forgotten");
  const [plan] = (await (await sendApiRequest(api.url, "/apps/northwind-scribe/pricing", undefined)).json()) as {
    id: string;
  }[];
  const ids: string[] = [];
  for (const { alias } of registered) {
    const body = { appSlug: "northwind-scribe", orgAlias: alias, pricingPlanId: plan?.id };
    ids.push((await post<SubscriptionDto>("operator", "/subscriptions", body)).id);
  }
  for (const endpoint of [unavailable, forgotten]) {
    await eventually("410 disables the endpoint", 30_000, () => isDisabled(endpoint));
    const waits = async (): Promise<boolean> => (await statuses(endpoint))["waiting"] === practices;
    await eventually("no delivery is in flight", 30_000, waits);
  }
  const receivedBefore = vendor.received.length;

  for (const change of ["pause", "resume", "cancel"]) {
    await advanceTime(ownerUrl, day);
    const body = change === "pause" ? { reason: "SECURITY" } : undefined;
    for (const id of ids) await post("operator", `/subscriptions/${id}/${change}`, body);
  }
  await eventually(
    "the EHRs receive all events meanwhile",
    30_000,
    () => ehr.received.length === practices * lifecycle.length,
  );
  assertCompleteLifecycles(ehr.received, ids);
  assert.equal(vendor.received.length, receivedBefore, "a disabled endpoint receives nothing");

  // A worker runs its maintenance when it starts. The expiry of month-old deliveries shows that it did.
  await withClient(ownerUrl, async (client) => {
    const ago = "- interval '31 days' where";
    await client.query(`update deliveries set created_at = created_at ${ago} recipient_id = $1`, [forgotten]);
    await client.query(`update recipients set disabled_at = disabled_at ${ago} id = $1`, [forgotten]);
  });
  await startWorkerProcess(cleanUp, serviceUrl, { environment });
  const all = practices * lifecycle.length;
  const expires = async (): Promise<boolean> => (await statuses(forgotten))["expired"] === all;
  await eventually("deliveries older than a month expire", 20_000, expires);
  assert.deepEqual(await statuses(unavailable), { waiting: all });

  // The first delivery of three subscriptions is refused once more: its successors have to wait.
  const refused = new Set<string>();
  const accepted: Received[] = [];
  vendor.respond = (received, response) => {
    const { id } = received.event.subscription;
    const refuses = refused.size < 3 && !refused.has(id);
    if (refuses) refused.add(id);
    else accepted.push(received);
    response.writeHead(refuses ? 503 : 204).end();
  };
  await post("northwind-developer", `/developer/webhooks/${unavailable}/enable`);
  const arrives = async (): Promise<boolean> => (await statuses(unavailable))["delivered"] === all;
  await eventually("all due deliveries arrive", 60_000, arrives);
  assert.deepEqual(await statuses(unavailable), { delivered: all });
  assertCompleteLifecycles(accepted, ids);
  assert.ok(accepted.every(({ path }) => path === "/unavailable"));
  t.diagnostic(`${accepted.length} deliveries of ${ids.length} subscriptions after 3 days: all in order, expired 0`);
});
