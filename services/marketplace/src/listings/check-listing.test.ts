import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type { ListingCheck } from "@ehr-marketplace/contracts";
import { criteria } from "@ehr-marketplace/listing-rules";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";

describe("checking a draft", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const path = "/developer/apps/checked";
  const check = async (): Promise<ListingCheck> => {
    const response = await marketplace.requestAs("northwind-developer", `${path}/check`);
    assert.equal(response.status, 200, await response.clone().text());
    const found = (await response.json()) as ListingCheck;
    assertShape("ListingCheck", found);
    return found;
  };

  test("lists everything that is wrong at once, with codes of the public criteria, and counts it", async () => {
    const body = { slug: "checked", name: "Checked" };
    const created = await marketplace.requestAs("northwind-developer", "/developer/apps", { body });
    const first = await check();
    assert.ok(first.errors > 8, JSON.stringify(first));
    assert.equal(first.problems.filter(({ severity }) => severity === "error").length, first.errors);
    assert.equal(first.problems.length, first.errors + first.warnings);
    for (const { code } of first.problems) assert.ok(code in criteria, code);

    const patched = await marketplace.requestAs("northwind-developer", path, {
      method: "PATCH",
      body: {
        summary: "Checked",
        description: "What it does",
        category: "DOCUMENTATION",
        extensionPoints: ["note-panel"],
        reviewNotes: "for reviewers",
      },
      headers: { "if-match": created.headers.get("etag") ?? "" },
    });
    assert.equal(patched.status, 200, await patched.clone().text());
    const second = await check();
    const gone = new Set(["/summary", "/description", "/category"]);
    assert.deepEqual(
      first.problems.map(({ pointer }) => pointer).filter((pointer) => !gone.has(pointer)),
      second.problems.map(({ pointer }) => pointer),
    );
    assert.ok(!JSON.stringify(second).includes("for reviewers"));
  });

  test("an id that no plan of the app has is an error", async () => {
    const listing = await marketplace.requestAs("northwind-developer", path);
    const patched = await marketplace.requestAs("northwind-developer", path, {
      method: "PATCH",
      body: { plans: [{ id: randomUUID(), name: "Free", pricingModel: "FREE", currency: "USD" }] },
      headers: { "if-match": listing.headers.get("etag") ?? "" },
    });
    assert.equal(patched.status, 200, await patched.clone().text());
    const { problems } = await check();
    const ofPlans = problems.filter(({ pointer }) => pointer.startsWith("/plans"));
    assert.deepEqual(
      ofPlans.map(({ pointer, code }) => [pointer, code]),
      [["/plans/0/id", "plan-unknown"]],
    );
  });

  test("another vendor's draft is 404, as one that doesn't exist", async () => {
    for (const at of [path, "/developer/apps/unheard-of"]) {
      await assertProblem(await marketplace.requestAs("lumen-developer", `${at}/check`), 404, "listing-not-found");
    }
  });
});
