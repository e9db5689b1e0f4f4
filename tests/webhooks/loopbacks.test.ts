import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { loopbackNetworks } from "@ehr-marketplace/dev/service-environments";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";

describe("with the networks of the local stack", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let pricingPlanId = "";
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp, { VENDOR_ALLOWED_NETWORKS: loopbackNetworks.join() });
    await startWorkerProcess(cleanUp, marketplace.database.serviceUrl);
    pricingPlanId = (await marketplace.plans("northwind-scribe"))[0]?.id ?? "";
  });

  for (const [nth, [host, address]] of (
    [
      ["127.0.0.1", "127.0.0.1"],
      ["localhost", "127.0.0.1"],
      ["[::1]", "::1"],
    ] as const
  ).entries()) {
    test(`a callback with a trailing slash and an endpoint at http://${host} are registered and receive deliveries`, async () => {
      const [ehr, vendor] = [await startReceiver(cleanUp, 0, address), await startReceiver(cleanUp, 0, address)];
      const orgAlias = `practice-${nth}`;
      const callback = { callbackUrl: `http://${host}:${ehr.port}/base/`, callbackNetworks: loopbackNetworks };
      const registered = await marketplace.requestAs("operator", `/admin/organisations/${orgAlias}`, {
        method: "PUT",
        body: { displayName: orgAlias, ...callback },
      });
      assert.equal(registered.status, 201, await registered.text());
      const endpoint = await marketplace.requestAs("northwind-developer", "/developer/webhooks", {
        body: {
          url: `http://${host}:${vendor.port}/`,
          secret: "a secret of loopbacks",
          events: ["subscription.created"],
        },
      });
      assert.equal(endpoint.status, 201, await endpoint.text());

      const created = await marketplace.requestAs("operator", "/subscriptions", {
        body: { appSlug: "northwind-scribe", orgAlias, pricingPlanId },
      });
      const { id } = (await created.json()) as SubscriptionDto;
      for (const [receiver, path] of [
        [ehr, "/base/api/internal/marketplace-webhook"],
        [vendor, "/"],
      ] as const) {
        const mine = () => receiver.received.filter(({ event }) => event.subscription.id === id);
        await eventually("the event arrives", 15_000, () => mine().length > 0);
        assert.deepEqual(
          mine().map((received) => received.path),
          [path],
        );
      }
    });
  }
});
