import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { RegisteredWebhookDto, WebhookDeliveryLogPage } from "@ehr-marketplace/contracts";
import { marketplaceEnvironment } from "@ehr-marketplace/dev/service-environments";
import { createOutboundClient, createResolver, type Resolver, unresolvedDetail } from "@ehr-marketplace/outbound-http";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { startNameServer } from "@ehr-marketplace/test-kit/name-server";
import { startReceiver } from "@ehr-marketplace/test-kit/raw-receiver";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { createWorker } from "../worker-app.ts";
import { readWorkerConfig } from "../worker-config.ts";
import { endpointBody, registered } from "./register.test-support.ts";

const hosts = "127.0.0.1 localhost";
const zone = {
  "public.example": () => ["1.1.1.1", "2606:4700:4700::1111"],
  "loopback.example": () => ["127.0.0.1"],
  "private.example": () => ["10.0.0.1"],
  "private-six.example": () => ["fd12:3456::1"],
  "metadata.example": () => ["169.254.169.254"],
  "mapped.example": () => ["::ffff:7f00:1"],
  "mixed.example": () => ["1.1.1.1", "10.0.0.1"],
  "mixed-with-loopback.example": () => ["1.1.1.1", "127.0.0.1"],
  "mixed-families.example": () => ["1.1.1.1", "fd12:3456::1"],
  "broken.example": () => "broken" as const,
  "moves.example": (query: number) => [query === 0 ? "1.1.1.1" : "127.0.0.1"],
  "moves-at-once.example": (query: number) => [query === 0 ? "1.1.1.1" : "127.0.0.1"],
};

for (const [where, environment, good, bad] of [
  [
    "where no network is allowed",
    { VENDOR_ALLOWED_NETWORKS: "" },
    "https://public.example/ https://PUBLIC.example./ https://broken.example/ https://not-yet.example/",
    "https://localhost/ https://loopback.example/ https://private.example:8443/ https://private-six.example/ " +
      "https://metadata.example/ https://mapped.example/ https://mixed.example/ https://mixed-families.example/",
  ],
  [
    "where loopback is allowed",
    { VENDOR_ALLOWED_NETWORKS: "127.0.0.0/8" },
    "https://public.example/ https://localhost/ http://localhost:8090/ http://loopback.example/ https://mapped.example/ " +
      "https://mixed-with-loopback.example/ http://not-yet.example/",
    "http://public.example/ http://mixed-with-loopback.example/ https://private.example/ https://metadata.example/ " +
      "https://mixed.example/",
  ],
] as const) {
  describe(`the name in an endpoint's URL, ${where}`, () => {
    const cleanUp = cleanUpAfter();
    let marketplace: MarketplaceWithCallers;
    let endpoint: RegisteredWebhookDto;
    before(async () => {
      const resolver = createResolver({ ...(await startNameServer(cleanUp, zone)), hosts });
      marketplace = await startMarketplaceWithCallers(cleanUp, environment, resolver);
      endpoint = await registered(marketplace);
    });
    const register = (url: string): Promise<Response> =>
      marketplace.requestAs("northwind-developer", "/developer/webhooks", { body: { ...endpointBody, url } });
    const patch = (url: string): Promise<Response> =>
      marketplace.requestAs("northwind-developer", `/developer/webhooks/${endpoint.id}`, {
        method: "PATCH",
        body: { url },
      });

    for (const url of good.split(" ")) {
      test(`may be that of ${url}`, async () => {
        for (const response of [await register(url), await patch(url)]) {
          assert.ok(response.ok, await response.clone().text());
          const { url: stored, warnings } = (await response.json()) as RegisteredWebhookDto;
          assert.equal(stored, url);
          const isUnresolved = /not-yet|broken/.test(url);
          assert.deepEqual(warnings, isUnresolved ? [{ pointer: "/body/url", detail: unresolvedDetail }] : undefined);
        }
        const response = await marketplace.requestAs("northwind-developer", `/developer/webhooks/${endpoint.id}`);
        assert.equal(
          "warnings" in ((await response.json()) as object),
          false,
          "they are only in the response to the change",
        );
      });
    }
    for (const url of bad.split(" ")) {
      test(`may not be that of ${url}`, async () => {
        for (const response of [await register(url), await patch(url)]) {
          const problem = await assertProblem(response, 422, "endpoint-not-allowed");
          const expected = url.startsWith("http:")
            ? "must begin with https://"
            : "has a host name that resolves to an address that is not public";
          assert.deepEqual(problem["errors"], [{ pointer: "/body/url", detail: expected }]);
        }
      });
    }
  });
}

describe("a name that resolves to an internal address after its registration", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let resolver: Resolver;
  before(async () => {
    resolver = createResolver({ ...(await startNameServer(cleanUp, zone)), hosts });
    marketplace = await startMarketplaceWithCallers(cleanUp, {}, resolver);
  });

  test("never gets a connection", async () => {
    const local = await startReceiver(cleanUp, (socket) => socket.resume());
    const { id } = await registered(marketplace, { body: { url: `https://moves.example:${local.port}/` } });
    const own = marketplaceEnvironment(marketplace.database.serviceUrl);
    const config = readWorkerConfig({ ...own, NODE_ENV: "test" });
    const logger = createLogger({ service: "test", level: "silent" });
    const worker = await createWorker(config, logger, createOutboundClient({ resolve: resolver.resolve }));
    cleanUp(async () => {
      await worker.server.close();
      await worker.stop();
    });

    const path = `/developer/webhooks/${id}`;
    const pinged = await marketplace.requestAs("northwind-developer", `${path}/test`, { method: "POST" });
    const { deliveryId } = (await pinged.json()) as { deliveryId: string };
    const attempts = async (): Promise<WebhookDeliveryLogPage["items"]> => {
      const response = await marketplace.requestAs("northwind-developer", `${path}/deliveries/${deliveryId}/attempts`);
      return ((await response.json()) as WebhookDeliveryLogPage).items;
    };
    await eventually("it was tried", 30_000, async () => (await attempts())[0]?.outcome === "failed");
    assert.equal((await attempts())[0]?.error, "address: address-not-allowed");
    assert.equal(local.connections.length, 0);
  });

  test("gets the same response when its registration is repeated", async () => {
    const register = (): Promise<Response> =>
      marketplace.requestAs("northwind-developer", "/developer/webhooks", {
        body: { ...endpointBody, url: "https://moves-at-once.example/" },
        headers: { "idempotency-key": "moves" },
      });
    const [first, second] = [await register(), await register()];
    assert.equal(first.status, 201);
    assert.equal(second.status, 201, await second.clone().text());
    assert.deepEqual(await second.json(), await first.json());
  });
});
