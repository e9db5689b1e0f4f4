import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { withClient } from "@ehr-marketplace/dev/postgres";
import {
  type ApiProcess,
  ask,
  assertShape,
  type Callers,
  cleanUpAfter,
  cloneDatabase,
  eventually,
  type Practice,
  type Receiver,
  registerPractices,
  startApiProcess,
  startCallers,
  startReceiver,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support";
import { verifyBody, verifyStandard } from "@ehr-marketplace/webhook-signature";

describe("from commit to the EHR", () => {
  const cleanUp = cleanUpAfter();
  let api: ApiProcess;
  let callers: Callers;
  let receiver: Receiver;
  let practices: Practice[];
  let ownerUrl: string;
  let plan: string;

  before(async () => {
    callers = await startCallers(cleanUp);
    const database = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = database);
    receiver = await startReceiver(cleanUp);
    practices = await registerPractices(ownerUrl, { count: 20, callbackUrl: receiver.url });
    const environment = { ...callers.environment, LOG_LEVEL: "warn" };
    api = await startApiProcess(cleanUp, database.serviceUrl, { environment });
    await startWorkerProcess(cleanUp, database.serviceUrl, { environment });
    const [first] = (await (await ask(api.url, "/apps/northwind-scribe/pricing", undefined)).json()) as {
      id: string;
    }[];
    plan = first?.id ?? "";
  });

  const operate = async (path: string, body?: object): Promise<SubscriptionDto> => {
    const asking = { method: "POST", ...(body === undefined ? {} : { body }) };
    const answer = await ask(api.url, path, callers.token("operator"), asking);
    assert.ok(answer.ok, await answer.clone().text());
    return (await answer.json()) as SubscriptionDto;
  };
  const subscribe = (orgAlias: string): Promise<SubscriptionDto> =>
    operate("/subscriptions", { appSlug: "northwind-scribe", orgAlias, pricingPlanId: plan });
  const of = (id: string) => receiver.received.filter(({ event }) => event.subscription.id === id);

  test("a subscription's whole life arrives in order, signed, with the spec's headers and bytes", async () => {
    const [practice] = practices;
    const { id } = await subscribe(practice?.alias ?? "");
    await operate(`/subscriptions/${id}/pause`, { reason: "NON_PAYMENT" });
    await operate(`/subscriptions/${id}/resume`);
    await operate(`/subscriptions/${id}/cancel`);
    await eventually("all four arrive", 10_000, () => of(id).length === 4);
    assert.deepEqual(
      of(id).map(({ event }) => [event.event, event.subscription.status]),
      [
        ["subscription.created", "active"],
        ["subscription.paused", "paused"],
        ["subscription.resumed", "active"],
        ["subscription.cancelled", "cancelled"],
      ],
    );
    const secrets = [practice?.secret ?? ""];
    for (const { path, headers, body, event } of of(id)) {
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
    await eventually("the last one is settled", 10_000, async () => (await stored()).at(-1)?.status === "delivered");
    assert.deepEqual(
      await stored(),
      of(id).map(({ body }) => ({
        payload: body,
        status: "delivered",
        attempts: 1,
        outcome: "delivered",
        status_code: 204,
      })),
    );
  });

  test("a failing delivery is sent again, the same bytes under the same id, and holds back only its own successors", async () => {
    const [, failing, fine] = practices;
    let refused = 0;
    receiver.answer = ({ event }, response) => {
      const refuse = event.subscription.orgAlias === failing?.alias && refused < 1;
      if (refuse) refused += 1;
      response.writeHead(refuse ? 500 : 204).end(refuse ? "not now" : "");
    };
    const { id } = await subscribe(failing?.alias ?? "");
    await eventually("it is refused", 5_000, () => refused === 1);
    await operate(`/subscriptions/${id}/cancel`);
    const other = await subscribe(fine?.alias ?? "");
    await eventually("the other arrives", 5_000, () => of(other.id).length === 1);
    assert.equal(of(id).length, 1, "the successor waits");
    await eventually("it is sent again, and then its successor", 15_000, () => of(id).length === 3);
    const [first, again, successor] = of(id);
    assert.equal(again?.body, first?.body);
    assert.equal(again?.headers["x-marketplace-delivery-id"], first?.headers["x-marketplace-delivery-id"]);
    assert.equal(again?.headers["x-marketplace-attempt"], "2");
    assert.equal(successor?.event.event, "subscription.cancelled");
    const waited = ((again?.at ?? 0) - (first?.at ?? 0)) / 1_000;
    assert.ok(waited > 4.4 && waited < 8, `after the first failure five seconds, give or take a tenth: ${waited}`);
  });
});
