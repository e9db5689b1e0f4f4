import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { cleanUpAfter, eventually, rounds, startApiProcess } from "@ehr-marketplace/tests/support";
import { startCrashableCluster } from "./crashable-cluster.ts";

test("a database that crashes under load costs 503s and nothing else; the service recovers by itself", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const cluster = await startCrashableCluster(cleanUp);
  const { serviceUrl } = cluster;
  const api = await startApiProcess(cleanUp, serviceUrl, { environment: { CATALOG_CACHE_SECONDS: "0" } });

  const seen = new Map<number, number>();
  let last = 0;
  const enough = new AbortController();
  cleanUp(async () => enough.abort());
  const client = async (path: string): Promise<void> => {
    while (!enough.signal.aborted) {
      const answer = await fetch(`${api.url}/api/v1${path}`);
      const body = (await answer.json()) as { code?: string };
      if (answer.status === 503) {
        assert.equal(body.code, "unavailable");
        assert.ok(Number(answer.headers.get("retry-after")) >= 1);
        await delay(5);
      }
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
      last = answer.status;
    }
  };
  const clients = Promise.all(["/apps", "/apps/search?q=scribe", "/apps/featured", "/apps/cuffline"].map(client));

  for (let round = 0; round < rounds(2, 10); round += 1) {
    await eventually("answers come", 10_000, () => last === 200);
    await cluster.crash();
    await eventually("503 while the database is away", 10_000, () => last === 503);
    await eventually("not ready while the database is away", 5_000, async () => !(await api.ready()));
    await cluster.startAgain();
    await eventually("answers come again, with no restart", 15_000, () => last === 200);
    await eventually("ready again", 5_000, () => api.ready());
  }
  enough.abort();
  await clients;
  t.diagnostic(`answers by status: ${JSON.stringify(Object.fromEntries(seen))}`);
  assert.deepEqual(new Set(seen.keys()), new Set([200, 503]));
  assert.equal(api.child.exitCode, null);
});
