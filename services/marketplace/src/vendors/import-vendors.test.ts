import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppPage, AuditPage, VendorDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import {
  type ImportResponse,
  type MarketplaceWithCallers,
  sendImport,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support";

describe("importing vendors", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const send = (lines: (object | string)[]): Promise<ImportResponse> =>
    sendImport(`${marketplace.url}/api/v1/admin/vendors/import`, marketplace.callers.token("operator"), lines);
  const read = async <T>(path: string): Promise<T> =>
    (await (await marketplace.requestAs("operator", path)).json()) as T;

  test("registers, changes, leaves and refuses vendors as a PUT of each line would, with the same audit entries", async () => {
    const lines = [
      { slug: "imported-one", name: "One", supportEmail: "help@one.example", commissionPercent: 12.5 },
      { slug: "northwind-health", name: "Northwind, renamed", websiteUrl: "https://northwind-health.example" },
      { slug: "imported-two", name: "Two", commissionPercent: 1.234 },
      { slug: "No slug", name: "Three" },
      { slug: "imported-one", name: "One, renamed", commissionPercent: 12.5 },
    ];
    const { results, summary } = await send(lines);
    assert.deepEqual(
      results.map(({ line, key, status, problem }) => [line, key, status, problem?.pointer]),
      [
        [1, "imported-one", "created", undefined],
        [2, "northwind-health", "updated", undefined],
        [3, "imported-two", "refused", "/commissionPercent"],
        [4, "No slug", "refused", "/slug"],
        [5, "imported-one", "updated", undefined],
      ],
    );
    assert.deepEqual(summary, { lines: 5, created: 1, updated: 2, unchanged: 0, refused: 2 });
    const vendor = await read<VendorDto>("/admin/vendors/imported-one");
    assert.deepEqual([vendor.name, vendor.supportEmail, vendor.commissionPercent], ["One, renamed", null, 12.5]);
    const { items } = await read<AuditPage>("/admin/audit?limit=3");
    assert.deepEqual(items.map(({ action, target, onBehalfOf }) => `${action} ${target.id} ${onBehalfOf}`).toSorted(), [
      "vendor.change imported-one vendor:imported-one",
      "vendor.change northwind-health vendor:northwind-health",
      "vendor.register imported-one vendor:imported-one",
    ]);
    assert.deepEqual(
      items.find(({ action, target }) => action === "vendor.change" && target.id === "imported-one")?.after,
      vendor,
    );
    const { content } = await read<AppPage>("/apps?size=100");
    const names = content.filter((app) => app.vendor.slug === "northwind-health").map((app) => app.vendor.name);
    assert.deepEqual([...new Set(names)], ["Northwind, renamed"], "its apps show the new name at once");
    const again = await send(lines.slice(1, 2));
    assert.deepEqual(again.results, [{ line: 1, key: "northwind-health", status: "unchanged" }]);
  });
});
