import assert from "node:assert/strict";
import { test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { withClient } from "@ehr-marketplace/dev/postgres";
import {
  ask,
  cleanUpAfter,
  cloneDatabase,
  eventually,
  letTimePass,
  type Received,
  registerPractices,
  startApiProcess,
  startCallers,
  startReceiver,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support";

const day = 24 * 60 * 60_000;
/** More than are let go at the first steps, once it is enabled. */
const practices = 30;
const life = ["subscription.created", "subscription.paused", "subscription.resumed", "subscription.cancelled"];

test("an endpoint that was disabled for three days and is enabled hears all it missed, in order; nothing has expired", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const callers = await startCallers(cleanUp);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const ehr = await startReceiver(cleanUp);
  const vendor = await startReceiver(cleanUp);
  vendor.answer = (_received, response) => response.writeHead(410).end();
  const made = await registerPractices(ownerUrl, { count: practices, callbackUrl: ehr.url });
  const environment = { ...callers.environment, LOG_LEVEL: "error" };
  const api = await startApiProcess(cleanUp, serviceUrl, { environment });
  await startWorkerProcess(cleanUp, serviceUrl, { environment });

  const post = async <T>(who: "operator" | "northwind-developer", path: string, body?: object): Promise<T> => {
    const answer = await ask(api.url, path, callers.token(who), { method: "POST", ...(body && { body }) });
    assert.ok(answer.ok, await answer.clone().text());
    return (await answer.json()) as T;
  };
  const register = async (path: string): Promise<string> => {
    const body = { url: `${vendor.url}${path}`, secret: "a secret of sixteen or more", events: life };
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
  const assertWholeLives = (received: Received[], ids: string[]): void => {
    assert.equal(received.length, ids.length * life.length);
    for (const id of ids) {
      const lane = received.filter(({ event }) => event.subscription.id === id);
      assert.deepEqual(
        lane.map(({ event }) => event.event),
        life,
        id,
      );
    }
  };

  const away = await register("/away");
  const forgotten = await register("/forgotten");
  const [plan] = (await (await ask(api.url, "/apps/northwind-scribe/pricing", undefined)).json()) as { id: string }[];
  const ids: string[] = [];
  for (const { alias } of made) {
    const wanted = { appSlug: "northwind-scribe", orgAlias: alias, pricingPlanId: plan?.id };
    ids.push((await post<SubscriptionDto>("operator", "/subscriptions", wanted)).id);
  }
  for (const endpoint of [away, forgotten]) {
    await eventually("410 disables it", 10_000, () => isDisabled(endpoint));
    const waits = async (): Promise<boolean> => (await statuses(endpoint))["waiting"] === practices;
    await eventually("nothing is on its way to it", 10_000, waits);
  }
  const heardBefore = vendor.received.length;

  for (const change of ["pause", "resume", "cancel"]) {
    await letTimePass(ownerUrl, day);
    const body = change === "pause" ? { reason: "SECURITY" } : undefined;
    for (const id of ids) await post("operator", `/subscriptions/${id}/${change}`, body);
  }
  await eventually("the EHRs hear all of it meanwhile", 30_000, () => ehr.received.length === practices * life.length);
  assertWholeLives(ehr.received, ids);
  assert.equal(vendor.received.length, heardBefore, "a disabled endpoint hears nothing");

  // A worker keeps house when it starts. What has waited for a month shows that it did.
  await withClient(ownerUrl, async (client) => {
    const ago = "- interval '31 days' where";
    await client.query(`update deliveries set created_at = created_at ${ago} recipient_id = $1`, [forgotten]);
    await client.query(`update recipients set disabled_at = disabled_at ${ago} id = $1`, [forgotten]);
  });
  await startWorkerProcess(cleanUp, serviceUrl, { environment });
  const all = practices * life.length;
  const expires = async (): Promise<boolean> => (await statuses(forgotten))["expired"] === all;
  await eventually("what waited for a month expires", 20_000, expires);
  assert.deepEqual(await statuses(away), { waiting: all });

  // The first of some lanes is refused once more: what comes after it has to wait.
  const refused = new Set<string>();
  const heard: Received[] = [];
  vendor.answer = (received, response) => {
    const { id } = received.event.subscription;
    const refuses = refused.size < 3 && !refused.has(id);
    if (refuses) refused.add(id);
    else heard.push(received);
    response.writeHead(refuses ? 503 : 204).end();
  };
  await post("northwind-developer", `/developer/webhooks/${away}/enable`);
  const arrives = async (): Promise<boolean> => (await statuses(away))["delivered"] === all;
  await eventually("everything that was due arrives", 60_000, arrives);
  assert.deepEqual(await statuses(away), { delivered: all });
  assertWholeLives(heard, ids);
  assert.ok(heard.every(({ path }) => path === "/away"));
  t.diagnostic(`${heard.length} deliveries of ${ids.length} subscriptions after 3 days: all in order, expired 0`);
});
