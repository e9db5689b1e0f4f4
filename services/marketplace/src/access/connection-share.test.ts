import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { startMarketplaceWithCallers } from "@ehr-marketplace/tests/support/marketplace-with-callers";

test("a caller whose requests take long keeps its share of the database connections: others are served", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const marketplace = await startMarketplaceWithCallers(cleanUp, {
    DATABASE_POOL_SIZE: "5",
    CALLER_REQUESTS_AT_ONCE: "2",
    STATEMENT_TIMEOUT_MS: "60000",
    REQUEST_TIMEOUT_MS: "60000",
  });
  const { ownerUrl } = marketplace.database;
  await withClient(ownerUrl, async (client) => {
    await client.query("begin; lock table search_synonyms in access exclusive mode");
    const sent = Array.from({ length: 20 }, () => marketplace.requestAs("operator", "/admin/search-synonyms"));
    const countWaiting = async (): Promise<number> => {
      const { rows } = await client.query<{ count: number }>(
        "select count(*)::int as count from pg_locks where relation = 'search_synonyms'::regclass and not granted",
      );
      return rows[0]?.count ?? 0;
    };
    await eventually("the caller has its share", 30_000, async () => (await countWaiting()) === 2);
    const other = await marketplace.requestAs("riverside-admin", "/subscriptions?orgAlias=riverside-clinic");
    assert.equal(other.status, 200);
    assert.equal(await countWaiting(), 2);
    await client.query("commit");
    for (const response of await Promise.all(sent)) assert.equal(response.status, 200);
  });
});
