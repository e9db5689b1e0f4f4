import assert from "node:assert/strict";
import { test } from "node:test";
import type { AppPage } from "@ehr-marketplace/contracts";
import { sortProperties } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import fc from "fast-check";

test("all pages together have each app exactly once for any sort, size and category, ties included", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const database = await cloneDatabase(cleanUp, "demo");
  // Most apps share each sort key with others: only the tie-break keeps pages from overlapping.
  await withClient(database.ownerUrl, async (client) => {
    await client.query(`update apps set
      name = (array['Same', 'same', 'SAME', 'Sàme'])[1 + abs(hashtext(slug)) % 4],
      published_at = '2026-01-01', updated_at = '2026-02-01'`);
    await client.query("update app_popularity set popularity = abs(hashtext(app_id::text)) % 3");
  });
  const marketplace = await startMarketplace(cleanUp, database.serviceUrl);
  const walk = async (query: string): Promise<string[]> => {
    const seen: string[] = [];
    for (let number = 0; ; number += 1) {
      const response = await marketplace.get(`/apps?${query}&page=${number}`);
      const page = (await response.json()) as AppPage;
      seen.push(...page.content.map((app) => app.slug));
      assert.equal(page.last, number >= page.totalPages - 1);
      if (page.last) return seen;
    }
  };
  const everyApp = await walk("size=100");
  assert.equal(new Set(everyApp).size, 60);

  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...sortProperties),
      fc.constantFrom("", ",asc", ",desc"),
      fc.integer({ min: 1, max: 70 }),
      fc.option(fc.constantFrom("FINANCIAL", "REMOTE_CARE", "DOCUMENTATION"), { nil: undefined }),
      async (property, direction, size, category) => {
        const filter = category === undefined ? "" : `&category=${category}`;
        const seen = await walk(`sort=${property}${direction}&size=${size}${filter}`);
        assert.equal(seen.length, category === undefined ? 60 : 4);
        assert.equal(new Set(seen).size, seen.length);
      },
    ),
    { numRuns: 60 },
  );
});
