import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SubscriptionDto, WebhookDeliveryPage } from "@ehr-marketplace/contracts";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { type Receiver, startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";

describe("deliveries of a sandbox organisation's events", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let ehr: Receiver;
  let vendor: Receiver;
  before(async () => {
    const networks = { VENDOR_ALLOWED_NETWORKS: "127.0.0.0/8" };
    marketplace = await startMarketplaceWithCallers(cleanUp, networks);
    const environment = { ...marketplace.callers.environment, ...networks, LOG_LEVEL: "warn" };
    await startWorkerProcess(cleanUp, marketplace.database.serviceUrl, { environment });
    ehr = await startReceiver(cleanUp);
    vendor = await startReceiver(cleanUp);
  });
  const send = async <T>(
    who: "operator" | "northwind-developer" | "ehr-service",
    path: string,
    options: object,
  ): Promise<T> => {
    const response = await marketplace.requestAs(who, path, options);
    assert.ok(response.ok, await response.clone().text());
    return (await response.json()) as T;
  };
  const marksOf = ({ received }: Receiver, id: string): unknown[] =>
    received
      .filter(({ event }) => event.subscription.id === id)
      .map(({ event, headers }) => [event.event, headers["x-marketplace-sandbox"]]);

  test("carry X-Marketplace-Sandbox to EHR and vendor at every attempt, redelivered and replayed ones too, and no others do", async () => {
    const callback = { callbackUrl: ehr.url, callbackNetworks: ["127.0.0.0/8"] };
    for (const [alias, kind] of [
      ["northwind-sandbox", { kind: "SANDBOX", vendorSlug: "northwind-health" }],
      ["riverside-clinic", {}],
    ] as const) {
      const body = { displayName: alias, ...callback, ...kind };
      await send("operator", `/admin/organisations/${alias}`, { method: "PUT", body });
    }
    const endpoint = await send<{ id: string }>("northwind-developer", "/developer/webhooks", {
      body: {
        url: `${vendor.url}/hooks`,
        secret: "a secret of the sandbox",
        events: ["subscription.created", "subscription.cancelled", "connection.updated"],
      },
    });
    await send("northwind-developer", "/developer/apps", { body: { slug: "quill", name: "Quill" } });
    const headers = { "if-match": '"1"' };
    const draft = { category: "DOCUMENTATION" };
    await send("northwind-developer", "/developer/apps/quill", { method: "PATCH", body: draft, headers });
    const installed = await send<SubscriptionDto>("northwind-developer", "/developer/apps/quill/test-subscriptions", {
      body: { orgAlias: "northwind-sandbox" },
    });
    await send("operator", `/subscriptions/${installed.id}/cancel`, { method: "POST" });
    const [plan] = await marketplace.plans("northwind-scribe");
    const live = await send<SubscriptionDto>("operator", "/subscriptions", {
      body: { appSlug: "northwind-scribe", orgAlias: "riverside-clinic", pricingPlanId: plan?.id },
    });
    const marked = [
      ["subscription.created", "true"],
      ["subscription.cancelled", "true"],
    ];
    for (const receiver of [ehr, vendor]) {
      await eventually("all arrive", 20_000, () => receiver.received.length >= 3);
      assert.deepEqual(marksOf(receiver, installed.id), marked);
      assert.deepEqual(marksOf(receiver, live.id), [["subscription.created", undefined]]);
      for (const { event } of receiver.received) {
        assert.deepEqual(Object.keys(event), ["event", "app", "subscription", "timestamp"]);
      }
    }

    const deliveries = `/developer/webhooks/${endpoint.id}/deliveries`;
    const find = async () => (await send<WebhookDeliveryPage>("northwind-developer", deliveries, {})).items;
    await eventually("the deliveries are settled", 20_000, async () =>
      (await find()).every(({ status }) => status === "delivered"),
    );
    const first = (await find()).at(-1) ?? assert.fail("there is no delivery");
    await send("northwind-developer", `${deliveries}/${first.id}/redeliver`, { method: "POST" });
    await eventually("it is redelivered", 20_000, () => marksOf(vendor, installed.id).length === 3);
    assert.deepEqual(marksOf(vendor, installed.id).at(-1), marked[0]);

    const range = { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date().toISOString() };
    await send("northwind-developer", `/developer/webhooks/${endpoint.id}/replays`, { body: range });
    await eventually("both are replayed", 20_000, () => marksOf(vendor, installed.id).length >= 5);
    assert.ok(marksOf(vendor, installed.id).every((each) => (each as string[])[1] === "true"));
    assert.ok(marksOf(vendor, live.id).every((each) => (each as string[])[1] === undefined));
  });

  test("a report about a sandbox's connection carries it too, and goes to the vendor alone", async () => {
    const installed = await send<SubscriptionDto>("northwind-developer", "/developer/apps/quill/test-subscriptions", {
      body: { orgAlias: "northwind-sandbox" },
    });
    const body = { status: "pending", reason: "An operator has to register the client." };
    await send("ehr-service", `/subscriptions/${installed.id}/connection`, { method: "PUT", body });
    await eventually("both arrive", 20_000, () => marksOf(vendor, installed.id).length === 2);
    const expected = [
      ["connection.updated", "true"],
      ["subscription.created", "true"],
    ];
    assert.deepEqual(new Set(marksOf(vendor, installed.id)), new Set(expected));
    await eventually("the EHR has its event", 20_000, () => marksOf(ehr, installed.id).length > 0);
    assert.deepEqual(marksOf(ehr, installed.id), [["subscription.created", "true"]]);
  });
});
