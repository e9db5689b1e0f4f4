import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { type Practice, registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertShape } from "@ehr-marketplace/test-kit/contract";
import { type Callers, fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { type Receiver, startReceiver } from "@ehr-marketplace/tests/support/receiver";
import {
  type ServiceProcess,
  startApiProcess,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support/service-process";
import { verifyBody, verifyStandard } from "@ehr-marketplace/webhook-signature";

describe("delivery to the EHR", () => {
  const cleanUp = cleanUpAfter();
  let api: ServiceProcess;
  let callers: Callers;
  let receiver: Receiver;
  let practices: Practice[];
  let ownerUrl: string;
  let plan: string;

  before(async () => {
    callers = await fetchCallers();
    const database = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = database);
    receiver = await startReceiver(cleanUp);
    practices = await registerPractices(ownerUrl, { count: 20, callbackUrl: receiver.url });
    const environment = { ...callers.environment, LOG_LEVEL: "warn" };
    api = await startApiProcess(cleanUp, database.serviceUrl, { environment });
    await startWorkerProcess(cleanUp, database.serviceUrl, { environment });
    const [first] = (await (await sendApiRequest(api.url, "/apps/northwind-scribe/pricing", undefined)).json()) as {
      id: string;
    }[];
    plan = first?.id ?? "";
  });

  const operate = async (path: string, body?: object): Promise<SubscriptionDto> => {
    const options = { method: "POST", ...(body === undefined ? {} : { body }) };
    const response = await sendApiRequest(api.url, path, callers.token("operator"), options);
    assert.ok(response.ok, await response.clone().text());
    return (await response.json()) as SubscriptionDto;
  };
  const subscribe = (orgAlias: string): Promise<SubscriptionDto> =>
    operate("/subscriptions", { appSlug: "northwind-scribe", orgAlias, pricingPlanId: plan });
  const receivedFor = (id: string) => receiver.received.filter(({ event }) => event.subscription.id === id);

  test("all events of a subscription arrive in order, signed, with the spec's headers and bytes", async () => {
    const [practice] = practices;
    const { id } = await subscribe(practice?.alias ?? "");
    await operate(`/subscriptions/${id}/pause`, { reason: "NON_PAYMENT" });
    await operate(`/subscriptions/${id}/resume`);
    await operate(`/subscriptions/${id}/cancel`);
    await eventually("all four arrive", 30_000, () => receivedFor(id).length === 4);
    assert.deepEqual(
      receivedFor(id).map(({ event }) => [event.event, event.subscription.status]),
      [
        ["subscription.created", "active"],
        ["subscription.paused", "paused"],
        ["subscription.resumed", "active"],
        ["subscription.cancelled", "cancelled"],
      ],
    );
    const secrets = [practice?.secret ?? ""];
    for (const { path, headers, body, event } of receivedFor(id)) {
      assert.equal(path, "/api/internal/marketplace-webhook");
      assert.equal(headers["content-type"], "application/json");
      assert.equal(headers["x-marketplace-event"], event.event);
      assert.match(String(headers["x-marketplace-delivery-id"]), /^[\da-f-]{36}$/);
      assert.equal(headers["x-marketplace-attempt"], "1");
      assert.equal(headers["x-marketplace-version"], "1");
      assert.equal(headers["webhook-id"], headers["x-marketplace-delivery-id"]);
      assert.ok(verifyBody({ body, signature: String(headers["x-marketplace-signature"]), secrets }));
      assert.deepEqual(verifyStandard({ headers, body, secrets }).valid, true);
      assertShape("SubscriptionEvent", event);
    }
    const stored = async () => {
      const { rows } = await withClient(ownerUrl, (client) =>
        client.query<{ payload: string; status: string; attempts: number; outcome: string; status_code: number }>(
          `select e.payload, d.status, d.attempts, a.outcome, a.status_code from events e
           join deliveries d on d.event_id = e.id join delivery_attempts a on a.delivery_id = d.id
           where e.subscription_id = $1 order by e.sequence`,
          [id],
        ),
      );
      return rows;
    };
    await eventually(
      "the last delivery is settled",
      30_000,
      async () => (await stored()).at(-1)?.status === "delivered",
    );
    assert.deepEqual(
      await stored(),
      receivedFor(id).map(({ body }) => ({
        payload: body,
        status: "delivered",
        attempts: 1,
        outcome: "delivered",
        status_code: 204,
      })),
    );
  });

  test("an EHR that refuses an event that the specification doesn't name gets it once, and its successors at once", async () => {
    const [, , , practice] = practices;
    const codes = [400, 404, 405, 422, 405, 400];
    receiver.respond = ({ event }, response) => {
      response.writeHead(event.event === "subscription.resumed" ? (codes.pop() ?? 204) : 204).end();
    };
    const { id } = await subscribe(practice?.alias ?? "");
    for (let round = 0; round < 6; round += 1) {
      await operate(`/subscriptions/${id}/pause`, { reason: "NON_PAYMENT" });
      await operate(`/subscriptions/${id}/resume`);
    }
    await operate(`/subscriptions/${id}/cancel`);
    await eventually("the last event arrives", 30_000, () =>
      receivedFor(id).some(({ event }) => event.event === "subscription.cancelled"),
    );
    assert.deepEqual(
      receivedFor(id).map(({ headers }) => headers["x-marketplace-attempt"]),
      Array.from({ length: 14 }, () => "1"),
    );
    const { rows } = await withClient(ownerUrl, (client) =>
      client.query(
        `select d.status, r.status as recipient, count(*)::integer as count
         from deliveries d join events e on e.id = d.event_id join recipients r on r.id = d.recipient_id
         where d.subscription_id = $1 and e.event = 'subscription.resumed' group by 1, 2`,
        [id],
      ),
    );
    assert.deepEqual(rows, [{ status: "failed", recipient: "active", count: 6 }]);
    receiver.respond = (_received, response) => response.writeHead(204).end();
  });

  test("a failed delivery is retried with the same bytes and id, and delays only its own successors", async () => {
    const [, failing, fine] = practices;
    let refused = 0;
    receiver.respond = ({ event }, response) => {
      const refuse = event.subscription.orgAlias === failing?.alias && refused < 1;
      if (refuse) refused += 1;
      response.writeHead(refuse ? 500 : 204).end(refuse ? "not now" : "");
    };
    const { id } = await subscribe(failing?.alias ?? "");
    await eventually("the delivery is refused", 30_000, () => refused === 1);
    await operate(`/subscriptions/${id}/cancel`);
    const other = await subscribe(fine?.alias ?? "");
    await eventually("the other practice's event arrives", 30_000, () => receivedFor(other.id).length === 1);
    assert.equal(receivedFor(id).length, 1, "the successor waits");
    await eventually("the retry and its successor arrive", 15_000, () => receivedFor(id).length === 3);
    const [first, retried, successor] = receivedFor(id);
    assert.equal(retried?.body, first?.body);
    assert.equal(retried?.headers["x-marketplace-delivery-id"], first?.headers["x-marketplace-delivery-id"]);
    assert.equal(retried?.headers["x-marketplace-attempt"], "2");
    assert.equal(successor?.event.event, "subscription.cancelled");
    const waited = ((retried?.at ?? 0) - (first?.at ?? 0)) / 1_000;
    assert.ok(waited > 4.4 && waited < 8, `the first retry is after five seconds, with 10 % jitter: ${waited}`);
  });
});
