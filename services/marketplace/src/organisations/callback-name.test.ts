import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { OrganisationDto } from "@ehr-marketplace/contracts";
import { createResolver, unresolvedDetail } from "@ehr-marketplace/outbound-http";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { startNameServer } from "@ehr-marketplace/test-kit/name-server";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";

const everywhere = ["0.0.0.0/0", "::/0"];
const zone = {
  "public.example": () => ["1.1.1.1", "2606:4700:4700::1111"],
  "private.example": () => ["10.0.0.1"],
  "loopback.example": () => ["127.0.0.1"],
  "metadata.example": () => ["169.254.169.254"],
  "mixed.example": () => ["10.0.0.1", "1.1.1.1"],
  "two-networks.example": () => ["10.0.0.1", "192.168.1.1"],
  "broken.example": () => "broken" as const,
};

describe("the name in an organisation's callback", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    const resolver = createResolver({ ...(await startNameServer(cleanUp, zone)), hosts: "" });
    marketplace = await startMarketplaceWithCallers(cleanUp, {}, resolver);
  });
  const put = (callbackUrl: string, callbackNetworks: readonly string[]): Promise<Response> =>
    marketplace.requestAs("operator", "/admin/organisations/called-by-name", {
      method: "PUT",
      body: { displayName: "Called by name", callbackUrl, callbackNetworks },
    });

  const good: [string, string[]][] = [
    ["https://public.example", []],
    ["https://not-yet.example", []],
    ["https://broken.example", []],
    ["https://private.example", ["10.0.0.0/8"]],
    ["http://private.example", ["10.0.0.0/8"]],
    ["https://mixed.example", ["10.0.0.0/8"]],
    ["http://two-networks.example", ["10.0.0.0/8", "192.168.0.0/16"]],
  ];
  for (const [url, networks] of good) {
    test(`is accepted: ${url}, within ${networks.join(" and ") || "no network"}`, async () => {
      const response = await put(url, networks);
      assert.ok(response.ok, await response.clone().text());
      const { callbackUrl, warnings } = (await response.json()) as OrganisationDto;
      assert.equal(callbackUrl, url);
      const isUnresolved = /not-yet|broken/.test(url);
      assert.deepEqual(
        warnings,
        isUnresolved ? [{ pointer: "/body/callbackUrl", detail: unresolvedDetail }] : undefined,
      );
    });
  }

  const bad: [string, string[]][] = [
    ["https://private.example", []],
    ["https://private.example", ["192.168.0.0/16"]],
    ["https://loopback.example", ["10.0.0.0/8"]],
    ["https://mixed.example", []],
    ["http://mixed.example", ["10.0.0.0/8"]],
    ["http://public.example", ["10.0.0.0/8"]],
    ["https://two-networks.example", ["10.0.0.0/8"]],
    ["https://metadata.example", everywhere],
  ];
  for (const [url, networks] of bad) {
    test(`is refused: ${url}, within ${networks.join(" and ") || "no network"}`, async () => {
      const problem = await assertProblem(await put(url, networks), 422, "callback-not-allowed");
      const expected = url.startsWith("http:")
        ? "must begin with https://, except where callbackNetworks names the private network that it is in"
        : "has a name with an address that is neither public nor in callbackNetworks";
      assert.deepEqual(problem["errors"], [{ pointer: "/body/callbackUrl", detail: expected }]);
    });
  }

  test("is unchanged after refused requests", async () => {
    const response = await marketplace.requestAs("operator", "/admin/organisations/called-by-name");
    const { callbackUrl, callbackNetworks } = (await response.json()) as OrganisationDto;
    assert.deepEqual([callbackUrl, callbackNetworks], good.at(-1));
  });
});
