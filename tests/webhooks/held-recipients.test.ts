import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { withClient } from "@ehr-marketplace/dev/postgres";
import {
  type ApiProcess,
  ask,
  type Callers,
  cleanUpAfter,
  cloneDatabase,
  eventually,
  letTimePass,
  oneConnection,
  type Practice,
  type Received,
  type Receiver,
  registerPractices,
  startApiProcess,
  startCallers,
  startReceiver,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support";

const minute = 60_000;
const day = 24 * 60 * minute;

describe("a recipient that fails, each process with one database connection", () => {
  const cleanUp = cleanUpAfter();
  let api: ApiProcess;
  let callers: Callers;
  let receiver: Receiver;
  let ownerUrl: string;
  let offers: { slug: string; id: string }[];
  let broken = false;
  /** What it has answered well. */
  const heard: Received[] = [];

  before(async () => {
    callers = await startCallers(cleanUp);
    const database = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = database);
    receiver = await startReceiver(cleanUp);
    receiver.answer = (received, response) => {
      if (!broken) heard.push(received);
      response.writeHead(broken ? 503 : 204).end();
    };
    const environment = { ...callers.environment, ...oneConnection, LOG_LEVEL: "warn" };
    api = await startApiProcess(cleanUp, database.serviceUrl, { environment });
    await startWorkerProcess(cleanUp, database.serviceUrl, { environment });
    offers = await withClient(ownerUrl, async (client) => {
      const found = await client.query<{ slug: string; id: string }>(
        "select distinct on (slug) slug, pricing_plans.id from apps join pricing_plans on app_id = apps.id",
      );
      return found.rows;
    });
  });

  const operate = async (path: string, body?: object): Promise<SubscriptionDto> => {
    const asking = { method: "POST", ...(body === undefined ? {} : { body }) };
    const answer = await ask(api.url, path, callers.token("operator"), asking);
    assert.ok(answer.ok, await answer.clone().text());
    return (await answer.json()) as SubscriptionDto;
  };
  const subscribe = (practice: Practice, nth: number): Promise<SubscriptionDto> => {
    const offer = offers[nth];
    return operate("/subscriptions", { appSlug: offer?.slug, orgAlias: practice.alias, pricingPlanId: offer?.id });
  };
  const recipient = async (id: string): Promise<{ status: string; failures_in_row: number; probes: number }> =>
    withClient(ownerUrl, async (client) => {
      const found = await client.query("select * from recipients where id = $1", [id]);
      return found.rows[0] as { status: string; failures_in_row: number; probes: number };
    });
  const due = async (id: string): Promise<number> =>
    withClient(ownerUrl, async (client) => {
      const found = await client.query<{ due: number }>(
        "select count(*)::int as due from deliveries where recipient_id = $1 and status in ('waiting', 'queued')",
        [id],
      );
      return found.rows[0]?.due ?? -1;
    });
  const statusIs = (id: string, status: string): Promise<void> =>
    eventually(`it is ${status}`, 20_000, async () => (await recipient(id)).status === status);

  test("is held after five failures in a row, probed, and drained in order when it is back after four days", async () => {
    const [practice] = await registerPractices(ownerUrl, { count: 1, callbackUrl: receiver.url, prefix: "held" });
    assert.ok(practice);
    broken = true;
    const subscriptions = await Promise.all([0, 1, 2, 3, 4].map((nth) => subscribe(practice, nth)));
    await statusIs(practice.id, "held");
    await eventually("nothing is on its way", 15_000, async () =>
      withClient(ownerUrl, async (client) => {
        const queued = await client.query("select from deliveries where recipient_id = $1 and status = 'queued'", [
          practice.id,
        ]);
        return queued.rowCount === 0;
      }),
    );

    const heardBefore = receiver.received.length;
    const later = await Promise.all([5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map((nth) => subscribe(practice, nth)));
    for (const { id } of [...subscriptions, ...later]) await operate(`/subscriptions/${id}/cancel`);
    assert.equal(receiver.received.length, heardBefore, "nothing goes out while it is held");

    await letTimePass(ownerUrl, 2 * minute);
    await eventually("one probe goes out", 10_000, () => receiver.received.length === heardBefore + 1);
    await eventually("it failed", 5_000, async () => (await recipient(practice.id)).probes === 1);
    assert.equal((await recipient(practice.id)).status, "held");

    await letTimePass(ownerUrl, 4 * day);
    broken = false;
    await letTimePass(ownerUrl, 15 * minute);
    await eventually("all that was due has arrived", 30_000, async () => (await due(practice.id)) === 0);
    assert.equal((await recipient(practice.id)).status, "active");
    for (const { id } of [...subscriptions, ...later]) {
      const events = heard.filter(({ event }) => event.subscription.id === id).map(({ event }) => event.event);
      assert.deepEqual(events, ["subscription.created", "subscription.cancelled"], id);
    }
  });

  test("an organisation without a callback is held, and hears everything once it has one", async () => {
    const alias = "silent-practice";
    const register = (body: object): Promise<Response> =>
      ask(api.url, `/admin/organisations/${alias}`, callers.token("operator"), { method: "PUT", body });
    assert.equal((await register({ displayName: "Silent" })).status, 201);
    const offer = offers[20];
    const body = { appSlug: offer?.slug, orgAlias: alias, pricingPlanId: offer?.id };
    const { id } = await operate("/subscriptions", body);
    await operate(`/subscriptions/${id}/cancel`);
    const of = () => receiver.received.filter(({ event }) => event.subscription.id === id);
    assert.equal(of().length, 0);
    const callback = { callbackUrl: receiver.url, callbackNetworks: ["127.0.0.0/8"] };
    assert.equal((await register({ displayName: "Silent", ...callback })).status, 200);
    await eventually("it hears both, in order", 10_000, () => of().length === 2);
    assert.deepEqual(
      of().map(({ event }) => event.event),
      ["subscription.created", "subscription.cancelled"],
    );
  });

  test("after twelve counted failures a delivery has failed, and its successor goes on", async () => {
    const [practice] = await registerPractices(ownerUrl, { count: 1, callbackUrl: receiver.url, prefix: "twelve" });
    assert.ok(practice);
    const { id } = await subscribe(practice, 30);
    await eventually("it arrived", 5_000, async () => (await due(practice.id)) === 0);
    receiver.answer = ({ event }, response) =>
      response.writeHead(event.event === "subscription.paused" ? 500 : 204).end();
    await operate(`/subscriptions/${id}/pause`, { reason: "SECURITY" });
    await operate(`/subscriptions/${id}/cancel`);
    const failures = async (): Promise<{ failures: number; status: string } | undefined> =>
      withClient(ownerUrl, async (client) => {
        const found = await client.query<{ failures: number; status: string }>(
          "select failures, status from deliveries where subscription_id = $1 and sequence = 2",
          [id],
        );
        return found.rows[0];
      });
    for (let failed = 1; failed <= 12; failed += 1) {
      await eventually(`failure ${failed}`, 10_000, async () => ((await failures())?.failures ?? 0) >= failed);
      // Others answer well in between, so that the recipient as a whole isn't held.
      await withClient(ownerUrl, (client) =>
        client.query("update recipients set failures_in_row = 0 where id = $1", [practice.id]),
      );
      if (failed < 12) await letTimePass(ownerUrl, 2 * day);
    }
    assert.deepEqual(await failures(), { failures: 12, status: "failed" });
    await eventually("its successor arrives", 10_000, async () => (await due(practice.id)) === 0);
    assert.equal(receiver.received.at(-1)?.event.event, "subscription.cancelled");
  });
});
