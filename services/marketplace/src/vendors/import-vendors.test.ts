import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppPage, AuditPage, ImportResult, VendorDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { sendImport } from "@ehr-marketplace/tests/support/send-import";

describe("importing vendors", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const send = (lines: (object | string)[]): Promise<ImportResult[]> =>
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
      { slug: "imported-three", name: "Th\u2060ree" },
    ];
    assert.deepEqual(
      (await send(lines)).map(({ line, slug, status, problem }) => [
        line,
        slug,
        status,
        problem?.pointer ?? problem?.code,
      ]),
      [
        [1, "imported-one", "created", undefined],
        [2, "northwind-health", "updated", undefined],
        [3, "imported-two", "refused", "/commissionPercent"],
        [4, "No slug", "refused", "/slug"],
        [5, "imported-one", "refused", "duplicate-key"],
        [6, "imported-three", "refused", "/name"],
      ],
    );
    assert.deepEqual(
      (await send(lines.slice(4, 5))).map(({ slug, status }) => [slug, status]),
      [["imported-one", "updated"]],
    );
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
    assert.deepEqual(await send(lines.slice(1, 2)), [{ line: 1, slug: "northwind-health", status: "unchanged" }]);
  });

  test("identical imports at the same time, in any order of lines, store each line once", async () => {
    const lines = Array.from({ length: 200 }, (_, index) => ({ slug: `raced-${index}`, name: `Vendor ${index}` }));
    await send(lines.slice(50, 100));
    const orders = [lines, lines.toReversed(), lines.slice(100).concat(lines.slice(0, 100))];
    const all = (await Promise.all(orders.map(send))).flat();
    const countOf = (status: string): number => all.filter((result) => result.status === status).length;
    assert.deepEqual([countOf("created"), countOf("unchanged")], [150, 450]);
  });
});
