import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppDto } from "@ehr-marketplace/contracts";
import {
  assertPrompt,
  cleanUpAfter,
  cloneDatabase,
  eventually,
  type ServiceDatabase,
  withClient,
} from "@ehr-marketplace/test-kit";
import { type RunningMarketplace, startMarketplace } from "@ehr-marketplace/tests/support/marketplace";

/** For a busy machine. Less than the lifetime of a cached response, after which each change would be visible. */
const visibleWithinMs = 20_000;

describe("catalog responses are cached, and invalidated when the catalog changes", () => {
  const cleanUp = cleanUpAfter();
  let database: ServiceDatabase;
  let processes: RunningMarketplace[];
  before(async () => {
    database = await cloneDatabase(cleanUp, "demo");
    processes = [
      await startMarketplace(cleanUp, database.serviceUrl),
      await startMarketplace(cleanUp, database.serviceUrl),
    ];
  });
  const change = (statement: string): Promise<unknown> =>
    withClient(database.ownerUrl, (client) => client.query(statement));
  const nameAt = async (marketplace: RunningMarketplace): Promise<string> =>
    ((await (await marketplace.get("/apps/cuffline")).json()) as AppDto).name;
  const seenByAll = (name: string): Promise<void> =>
    eventually(`every process shows ${name}`, visibleWithinMs, async () =>
      (await Promise.all(processes.map(nameAt))).every((shown) => shown === name),
    );
  const first = (): RunningMarketplace => processes[0] as RunningMarketplace;

  test("responses have Cache-Control, Vary and an ETag per content coding; a known ETag gets 304", async () => {
    for (const path of [
      "/apps",
      "/apps/search?q=scribe",
      "/apps/featured",
      "/apps/categories",
      "/apps/cuffline",
      "/apps/northwind-scribe/pricing",
      "/apps?vendor=northwind-health",
    ]) {
      const etags = new Set<string>();
      for (const coding of ["identity", "gzip", "br"]) {
        const response = await first().get(path, { "accept-encoding": coding });
        assert.equal(response.status, 200, await response.clone().text());
        assert.equal(response.headers.get("cache-control"), "public, max-age=30, stale-while-revalidate=60");
        assert.equal(response.headers.get("vary"), "accept-encoding");
        assert.equal(response.headers.get("access-control-allow-origin"), "*");
        assert.equal(response.headers.get("content-encoding"), coding === "identity" ? null : coding, path);
        JSON.parse(await response.text());
        const etag = response.headers.get("etag") ?? "";
        assert.match(etag, /^"[\w-]+"$/);
        etags.add(etag);
        const again = await first().get(path, { "accept-encoding": coding, "if-none-match": etag });
        assert.equal(again.status, 304, await again.clone().text());
        assert.equal(again.headers.get("etag"), etag);
        assert.equal(await again.text(), "");
      }
      assert.equal(etags.size, 3);
    }
  });

  test("responses that are too small to compress have the same headers, and one ETag", async () => {
    for (const path of ["/apps/northwind-scribe/versions", "/vendors/northwind-health"]) {
      const response = await first().get(path);
      assert.equal(response.status, 200, await response.clone().text());
      assert.equal(response.headers.get("cache-control"), "public, max-age=30, stale-while-revalidate=60");
      assert.equal(response.headers.get("vary"), "accept-encoding");
      assert.equal(response.headers.get("access-control-allow-origin"), "*");
      const etag = response.headers.get("etag") ?? "";
      assert.match(etag, /^"[\w-]+"$/);
      assert.equal((await first().get(path, { "if-none-match": etag })).status, 304);
    }
  });

  test("a change is visible on every process within a second", async () => {
    let round = 0;
    const rename = async (): Promise<void> => {
      round += 1;
      await Promise.all(processes.map(nameAt));
      await change(`update apps set name = 'Cuffline ${round}' where slug = 'cuffline'`);
    };
    await assertPrompt(1_000, () => seenByAll(`Cuffline ${round}`), rename);
  });

  test("so is a vendor's new name, a new plan and a renamed category", async () => {
    await first().get("/apps/lumen-schedule");
    await change("update vendors set name = 'Lumen Renamed' where slug = 'lumen-medical'");
    await eventually("the vendor's new name", visibleWithinMs, async () =>
      (await (await first().get("/apps/lumen-schedule")).text()).includes("Lumen Renamed"),
    );
    await first().get("/apps/lumen-schedule/pricing");
    await change(`insert into pricing_plans (id, app_id, position, name, description, pricing_model, currency, amount, published_at)
      select gen_random_uuid(), id, 9, 'Sampler', 'd', 'FREE', 'USD', 0, now() from apps where slug = 'lumen-schedule'`);
    await eventually("the new plan", visibleWithinMs, async () =>
      (await (await first().get("/apps/lumen-schedule/pricing")).text()).includes("Sampler"),
    );
    await first().get("/apps/categories");
    await change("update categories set name = 'Money' where category = 'FINANCIAL'");
    await eventually("the category's new name", visibleWithinMs, async () =>
      (await (await first().get("/apps/categories")).text()).includes('"Money"'),
    );
  });

  test("a listener that lost its connection clears the cache after it reconnects", async () => {
    await Promise.all(processes.map(nameAt));
    await withClient(database.ownerUrl, async (client) => {
      // Listeners cut off and a change in the same moment: no notification can reach them.
      await client.query("begin");
      await client.query("update apps set name = 'Cuffline reconnected' where slug = 'cuffline'");
      await client.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like '%listener'",
      );
      await client.query("commit");
    });
    await seenByAll("Cuffline reconnected");
  });

  test("concurrent requests for an uncached key cause one query", async () => {
    const coldProcess = await startMarketplace(cleanUp, database.serviceUrl);
    await withClient(database.ownerUrl, async (client) => {
      const waiting = async (): Promise<number> => {
        const { rows } = await client.query<{ waiting: number }>(
          "select count(*)::integer as waiting from pg_locks where not granted and relation = 'app_listings'::regclass",
        );
        return rows[0]?.waiting ?? 0;
      };
      // The process clears its cache once when it starts to listen. During the requests below, that would cause a second query. The
      // first query of a listener's connection is LISTEN, later ones are heartbeats: an idle one that has sent any query listens.
      await eventually("all processes listen", 20_000, async () => {
        const { rowCount } = await client.query(
          "select from pg_stat_activity where datname = current_database() and application_name like '%listener' and state = 'idle' and query <> ''",
        );
        return rowCount === 3;
      });
      await client.query("begin");
      await client.query("lock table app_listings in access exclusive mode");
      const responses = Array.from({ length: 200 }, () => coldProcess.get("/apps/inbox-heron"));
      await eventually("a query waits", 20_000, async () => (await waiting()) > 0);
      // All two hundred requests have arrived: the server counts them as started.
      await eventually("all requests have arrived", 20_000, async () => {
        const connections = await new Promise<number>((resolve) =>
          coldProcess.server.server.getConnections((_error, count) => resolve(count)),
        );
        return connections >= 200;
      });
      assert.equal(await waiting(), 1);
      await client.query("commit");
      assert.ok((await Promise.all(responses)).every((response) => response.status === 200));
    });
  });
});
