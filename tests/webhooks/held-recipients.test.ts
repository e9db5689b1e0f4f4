import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { type Practice, registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { advanceTime } from "@ehr-marketplace/tests/support/advance-time";
import { type Callers, fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { type Received, type Receiver, startReceiver } from "@ehr-marketplace/tests/support/receiver";
import {
  type ServiceProcess,
  startApiProcess,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support/service-process";
import { singleConnectionPool } from "@ehr-marketplace/tests/support/single-connection-pool";

const minute = 60_000;
const day = 24 * 60 * minute;

describe("a failing recipient, each process with one database connection", () => {
  const cleanUp = cleanUpAfter();
  let api: ServiceProcess;
  let callers: Callers;
  let receiver: Receiver;
  let ownerUrl: string;
  let offers: { slug: string; id: string }[];
  let isFailing = false;
  /** Deliveries that the receiver has accepted. */
  const accepted: Received[] = [];

  before(async () => {
    callers = await fetchCallers();
    const database = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = database);
    receiver = await startReceiver(cleanUp);
    receiver.respond = (received, response) => {
      if (!isFailing) accepted.push(received);
      response.writeHead(isFailing ? 503 : 204).end();
    };
    const environment = { ...callers.environment, ...singleConnectionPool, LOG_LEVEL: "warn" };
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
    const options = { method: "POST", ...(body === undefined ? {} : { body }) };
    const response = await sendApiRequest(api.url, path, callers.token("operator"), options);
    assert.ok(response.ok, await response.clone().text());
    return (await response.json()) as SubscriptionDto;
  };
  const subscribe = (practice: Practice, nth: number): Promise<SubscriptionDto> => {
    const offer = offers[nth];
    return operate("/subscriptions", { appSlug: offer?.slug, orgAlias: practice.alias, pricingPlanId: offer?.id });
  };
  const getRecipient = async (id: string): Promise<{ status: string; consecutive_failures: number; probes: number }> =>
    withClient(ownerUrl, async (client) => {
      const found = await client.query("select * from recipients where id = $1", [id]);
      return found.rows[0] as { status: string; consecutive_failures: number; probes: number };
    });
  const countDue = async (id: string): Promise<number> =>
    withClient(ownerUrl, async (client) => {
      const found = await client.query<{ due: number }>(
        "select count(*)::int as due from deliveries where recipient_id = $1 and status in ('waiting', 'queued')",
        [id],
      );
      return found.rows[0]?.due ?? -1;
    });
  const waitForStatus = (id: string, status: string): Promise<void> =>
    eventually(`the recipient is ${status}`, 20_000, async () => (await getRecipient(id)).status === status);

  test("is held after five consecutive failures, probed, and receives all events in order when it recovers after four days", async () => {
    const [practice] = await registerPractices(ownerUrl, { count: 1, callbackUrl: receiver.url, prefix: "held" });
    assert.ok(practice);
    isFailing = true;
    const subscriptions = await Promise.all([0, 1, 2, 3, 4].map((nth) => subscribe(practice, nth)));
    await waitForStatus(practice.id, "held");
    await eventually("no delivery is queued", 15_000, async () =>
      withClient(ownerUrl, async (client) => {
        const queued = await client.query("select from deliveries where recipient_id = $1 and status = 'queued'", [
          practice.id,
        ]);
        return queued.rowCount === 0;
      }),
    );

    const receivedBefore = receiver.received.length;
    const later = await Promise.all([5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map((nth) => subscribe(practice, nth)));
    for (const { id } of [...subscriptions, ...later]) await operate(`/subscriptions/${id}/cancel`);
    assert.equal(receiver.received.length, receivedBefore, "no request is sent while the recipient is held");

    await advanceTime(ownerUrl, 2 * minute);
    await eventually("one probe is sent", 30_000, () => receiver.received.length === receivedBefore + 1);
    await eventually("the probe fails", 30_000, async () => (await getRecipient(practice.id)).probes === 1);
    assert.equal((await getRecipient(practice.id)).status, "held");

    await advanceTime(ownerUrl, 4 * day);
    isFailing = false;
    await advanceTime(ownerUrl, 15 * minute);
    await eventually("all due deliveries arrive", 30_000, async () => (await countDue(practice.id)) === 0);
    assert.equal((await getRecipient(practice.id)).status, "active");
    for (const { id } of [...subscriptions, ...later]) {
      const events = accepted.filter(({ event }) => event.subscription.id === id).map(({ event }) => event.event);
      assert.deepEqual(events, ["subscription.created", "subscription.cancelled"], id);
    }
  });

  test("an organisation without a callback is held, and receives all events once it has one", async () => {
    const alias = "silent-practice";
    const register = (body: object): Promise<Response> =>
      sendApiRequest(api.url, `/admin/organisations/${alias}`, callers.token("operator"), { method: "PUT", body });
    assert.equal((await register({ displayName: "Silent" })).status, 201);
    const offer = offers[20];
    const body = { appSlug: offer?.slug, orgAlias: alias, pricingPlanId: offer?.id };
    const { id } = await operate("/subscriptions", body);
    await operate(`/subscriptions/${id}/cancel`);
    const received = () => receiver.received.filter(({ event }) => event.subscription.id === id);
    assert.equal(received().length, 0);
    const callback = { callbackUrl: receiver.url, callbackNetworks: ["127.0.0.0/8"] };
    assert.equal((await register({ displayName: "Silent", ...callback })).status, 200);
    await eventually("both events arrive in order", 30_000, () => received().length === 2);
    assert.deepEqual(
      received().map(({ event }) => event.event),
      ["subscription.created", "subscription.cancelled"],
    );
  });

  test("a delivery fails after twelve counted failures, and its successor is sent", async () => {
    const [practice] = await registerPractices(ownerUrl, { count: 1, callbackUrl: receiver.url, prefix: "twelve" });
    assert.ok(practice);
    const { id } = await subscribe(practice, 30);
    await eventually("the event arrives", 30_000, async () => (await countDue(practice.id)) === 0);
    receiver.respond = ({ event }, response) =>
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
      await eventually(`failure ${failed}`, 30_000, async () => ((await failures())?.failures ?? 0) >= failed);
      // Reset the count as if other deliveries had succeeded in between, so that the recipient isn't held.
      await withClient(ownerUrl, (client) =>
        client.query("update recipients set consecutive_failures = 0 where id = $1", [practice.id]),
      );
      if (failed < 12) await advanceTime(ownerUrl, 2 * day);
    }
    assert.deepEqual(await failures(), { failures: 12, status: "failed" });
    await eventually("its successor arrives", 30_000, async () => (await countDue(practice.id)) === 0);
    assert.equal(receiver.received.at(-1)?.event.event, "subscription.cancelled");
  });
});
