import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type { AcceptedDelivery, WebhookDeliveryPage } from "@ehr-marketplace/contracts";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { registered } from "./register.test-support.ts";

describe("actions on an endpoint", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const query = async <T>(text: string, values: unknown[] = []): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(text, values)).rows as T[]);
  const post = (below: string, asking: { body?: unknown; headers?: Record<string, string> } = {}): Promise<Response> =>
    marketplace.requestAs("northwind-developer", `/developer/webhooks/${below}`, { method: "POST", ...asking });
  const accepted = async (response: Response): Promise<string> => {
    assert.equal(response.status, 202, await response.clone().text());
    const body = (await response.json()) as AcceptedDelivery;
    assert.deepEqual(Object.keys(body), ["deliveryId", "endpointStatus"]);
    return body.deliveryId;
  };
  const deliveriesOf = async (id: string): Promise<WebhookDeliveryPage["items"]> => {
    const response = await marketplace.requestAs("northwind-developer", `/developer/webhooks/${id}/deliveries`);
    return ((await response.json()) as WebhookDeliveryPage).items;
  };
  const actionsOf = async (id: string): Promise<string[]> => {
    const entries = await query<{ action: string }>(
      "select action from audit_entries where target_id = $1 order by at, id",
      [id],
    );
    return entries.map(({ action }) => action);
  };
  const settle = (deliveryId: string, status: string): Promise<unknown> =>
    query("update deliveries set status = $2, settled_at = now() where id = $1", [deliveryId, status]);

  test("test sends a ping, also to an endpoint that doesn't select it", async () => {
    const { id, events } = await registered(marketplace);
    assert.ok(!events.includes("ping"));
    const deliveryId = await accepted(await post(`${id}/test`));
    const [delivery, ...others] = await deliveriesOf(id);
    assert.ok(delivery);
    assert.deepEqual(others, []);
    assert.deepEqual(delivery, {
      id: deliveryId,
      eventId: delivery.eventId,
      event: "ping",
      status: "queued",
      attempts: 0,
      failures: 0,
      nextAttemptAt: null,
      createdAt: delivery.createdAt,
      settledAt: null,
      subscriptionId: null,
    });
    assert.deepEqual(await actionsOf(id), ["webhook-endpoint.register", "webhook-endpoint.test"]);
  });

  test("test sends one ping per idempotency key", async () => {
    const { id } = await registered(marketplace);
    const headers = { "idempotency-key": "ping" };
    const first = await accepted(await post(`${id}/test`, { headers }));
    assert.equal(await accepted(await post(`${id}/test`, { headers })), first);
    assert.equal((await deliveriesOf(id)).length, 1);
    assert.notEqual(await accepted(await post(`${id}/test`)), first);
  });

  test("test returns 409 while a hundred pings are unsettled", async () => {
    const { id } = await registered(marketplace);
    const aMinuteLater = (): Promise<unknown> =>
      query("update webhook_endpoints set recent_tests = '{}' where id = $1", [id]);
    for (let nth = 0; nth < 100; nth += 1) {
      if (nth % 10 === 0) await aMinuteLater();
      await accepted(await post(`${id}/test`));
    }
    await aMinuteLater();
    await assertProblem(await post(`${id}/test`), 409, "tests-under-way");
    await query("update deliveries set status = 'delivered', settled_at = now() where recipient_id = $1", [id]);
    await accepted(await post(`${id}/test`));
  });

  test("test returns 409 while a thousand other deliveries wait, which may hide the pings", async () => {
    const { id } = await registered(marketplace);
    await query(
      `with told as (
         insert into events (id, event, occurred_at, payload)
         select mint_uuid(), 'connection.updated', now(), '{}' from generate_series(1, 1000) returning id
       )
       insert into deliveries (id, event_id, recipient_id, status, created_at)
       select mint_uuid(), id, $1, 'waiting', now() from told`,
      [id],
    );
    await assertProblem(await post(`${id}/test`), 409, "tests-under-way");
  });

  test("test returns 429 with Retry-After after ten per minute, over all processes", async () => {
    const { id } = await registered(marketplace);
    const other = await startMarketplace(cleanUp, marketplace.database.serviceUrl, marketplace.callers.environment);
    const token = marketplace.callers.token("northwind-developer");
    const path = `/developer/webhooks/${id}/test`;
    const repeatable = { method: "POST", headers: { "idempotency-key": "first of ten" } };
    const first = await accepted(await sendApiRequest(other.url, path, token, repeatable));
    const responses = await Promise.all(
      [marketplace, other].flatMap(({ url }) =>
        Array.from({ length: 10 }, () => sendApiRequest(url, path, token, { method: "POST" })),
      ),
    );
    assert.equal(responses.filter(({ status }) => status === 202).length, 9);
    const refused = responses.filter(({ status }) => status !== 202);
    for (const response of refused) {
      const { headers: sent } = response;
      await assertProblem(response, 429, "endpoint-tested-too-often");
      const seconds = Number(sent.get("retry-after"));
      assert.ok(seconds >= 1 && seconds <= 60, `${seconds}`);
      assert.deepEqual(
        ["limit", "remaining", "reset"].map((name) => sent.get(`ratelimit-${name}`)),
        ["10", "0", String(seconds)],
      );
    }
    assert.equal(
      await accepted(await sendApiRequest(other.url, path, token, repeatable)),
      first,
      "a repeated request doesn't count",
    );
    await query("update webhook_endpoints set recent_tests[1] = recent_tests[1] - interval '1 minute' where id = $1", [
      id,
    ]);
    await accepted(await post(`${id}/test`));
    await assertProblem(await post(`${id}/test`), 429, "endpoint-tested-too-often");
  });

  const setStatus = (id: string, status: string): Promise<unknown> => {
    const disabled = status === "disabled";
    return query(
      "update recipients set status = $2, held_since = now(), disabled_at = $3, disabled_reason = $4 where id = $1",
      [id, status, disabled ? new Date() : null, disabled ? "it answered 410 Gone" : null],
    );
  };

  test("test and redeliver return the endpoint's status, on which it depends whether the delivery waits", async () => {
    const { id } = await registered(marketplace);
    for (const [endpointStatus, deliveryStatus] of [
      ["active", "queued"],
      ["held", "waiting"],
      ["disabled", "waiting"],
    ] as const) {
      await setStatus(id, endpointStatus);
      const pinged = (await (await post(`${id}/test`)).json()) as AcceptedDelivery;
      assert.equal(pinged.endpointStatus, endpointStatus);
      assert.equal((await deliveriesOf(id))[0]?.status, deliveryStatus);
      await settle(pinged.deliveryId, "failed");
      await query("delete from pgboss.job where id = $1", [pinged.deliveryId]);
      const redelivered = await post(`${id}/deliveries/${pinged.deliveryId}/redeliver`);
      assert.deepEqual(await redelivered.json(), pinged);
    }
  });

  for (const status of ["held", "disabled"]) {
    test(`enable reactivates a ${status} endpoint`, async () => {
      const endpoint = await registered(marketplace);
      await setStatus(endpoint.id, status);
      const response = await post(`${endpoint.id}/enable`);
      assert.equal(response.status, 200, await response.clone().text());
      assert.deepEqual(await response.json(), {
        ...endpoint,
        disabledReason: null,
        heldSince: null,
        nextProbeAt: null,
        rotation: null,
      });
      const [entry] = await query<{ before: Record<string, unknown>; after: Record<string, unknown> }>(
        "select before, after from audit_entries where target_id = $1 and action = 'webhook-endpoint.enable'",
        [endpoint.id],
      );
      assert.deepEqual([entry?.before["status"], entry?.after["status"]], [status, "active"]);
    });
  }

  test("enable changes nothing on an active endpoint, and is not in the audit log then", async () => {
    const endpoint = await registered(marketplace);
    const response = await post(`${endpoint.id}/enable`);
    assert.deepEqual(await response.json(), {
      ...endpoint,
      disabledReason: null,
      heldSince: null,
      nextProbeAt: null,
      rotation: null,
    });
    assert.deepEqual(await actionsOf(endpoint.id), ["webhook-endpoint.register"]);
  });

  for (const status of ["delivered", "failed", "expired"]) {
    test(`redeliver sends a delivery that is ${status}, under the same id`, async () => {
      const { id } = await registered(marketplace, { vendor: "northwind-health" });
      const deliveryId = await accepted(await post(`${id}/test`));
      await settle(deliveryId, status);
      // A settled delivery has no job.
      await query("delete from pgboss.job where id = $1", [deliveryId]);
      assert.equal(await accepted(await post(`${id}/deliveries/${deliveryId}/redeliver`)), deliveryId);
      const deliveries = await deliveriesOf(id);
      assert.deepEqual(
        deliveries.map((each) => [each.id, each.status, each.settledAt]),
        [[deliveryId, "queued", null]],
      );
      assert.ok((await actionsOf(id)).includes("webhook-endpoint.redeliver"));
    });
  }

  test("redeliver returns 409 for an unsettled delivery", async () => {
    const { id } = await registered(marketplace);
    const deliveryId = await accepted(await post(`${id}/test`));
    const response = await post(`${id}/deliveries/${deliveryId}/redeliver`);
    await assertProblem(response, 409, "delivery-under-way");
    assert.ok(!(await actionsOf(id)).includes("webhook-endpoint.redeliver"));
  });

  for (const [status, detail] of [
    ["held", "its endpoint is held, and the delivery is sent when the endpoint responds again."],
    ["disabled", "its endpoint is disabled, and has to be enabled."],
  ] as const) {
    test(`redeliver states in its 409 that the delivery waits for a ${status} endpoint`, async () => {
      const { id } = await registered(marketplace);
      await setStatus(id, status);
      const deliveryId = await accepted(await post(`${id}/test`));
      const problem = await assertProblem(
        await post(`${id}/deliveries/${deliveryId}/redeliver`),
        409,
        "delivery-under-way",
      );
      assert.equal(problem["detail"], `Delivery ${deliveryId} is waiting: ${detail}`);
    });
  }

  test("redeliver returns 404 for another endpoint's delivery and an unknown one", async () => {
    const { id } = await registered(marketplace);
    const other = await registered(marketplace);
    const deliveryId = await accepted(await post(`${other.id}/test`));
    await settle(deliveryId, "failed");
    for (const whose of [deliveryId, randomUUID()]) {
      await assertProblem(await post(`${id}/deliveries/${whose}/redeliver`), 404, "delivery-not-found");
    }
    assert.equal((await deliveriesOf(other.id))[0]?.status, "failed");
  });

  test("return 400 for a body", async () => {
    const { id } = await registered(marketplace);
    const deliveryId = await accepted(await post(`${id}/test`));
    for (const below of ["test", "enable", "promote-secret", `deliveries/${deliveryId}/redeliver`]) {
      await assertProblem(await post(`${id}/${below}`, { body: { force: true } }), 400, "invalid-request");
    }
    assert.equal((await deliveriesOf(id)).length, 1);
  });
});
