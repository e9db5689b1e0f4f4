import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { cleanUpAfter, eventually, rounds } from "@ehr-marketplace/test-kit";
import { startApiProcess } from "@ehr-marketplace/tests/support/service-process";
import { startCrashableCluster } from "./crashable-cluster.ts";

test("a database crash under load causes only 503 responses, and the service recovers without a restart", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const cluster = await startCrashableCluster(cleanUp);
  const { serviceUrl } = cluster;
  const api = await startApiProcess(cleanUp, serviceUrl, { environment: { CATALOG_CACHE_SECONDS: "0" } });

  const countByStatus = new Map<number, number>();
  let lastStatus = 0;
  const stopped = new AbortController();
  cleanUp(async () => stopped.abort());
  const client = async (path: string): Promise<void> => {
    while (!stopped.signal.aborted) {
      const response = await fetch(`${api.url}/api/v1${path}`);
      const body = (await response.json()) as { code?: string };
      if (response.status === 503) {
        assert.equal(body.code, "unavailable");
        assert.ok(Number(response.headers.get("retry-after")) >= 1);
        await delay(5);
      }
      countByStatus.set(response.status, (countByStatus.get(response.status) ?? 0) + 1);
      lastStatus = response.status;
    }
  };
  const clients = Promise.all(["/apps", "/apps/search?q=scribe", "/apps/featured", "/apps/cuffline"].map(client));

  for (let round = 0; round < rounds(2, 10); round += 1) {
    await eventually("requests succeed", 30_000, () => lastStatus === 200);
    await cluster.crash();
    await eventually("503 while the database is unavailable", 30_000, () => lastStatus === 503);
    await eventually("not ready while the database is unavailable", 30_000, async () => !(await api.isReady()));
    await cluster.restart();
    await eventually("requests succeed without a restart", 15_000, () => lastStatus === 200);
    await eventually("ready", 30_000, () => api.isReady());
  }
  stopped.abort();
  await clients;
  t.diagnostic(`responses by status: ${JSON.stringify(Object.fromEntries(countByStatus))}`);
  assert.deepEqual(new Set(countByStatus.keys()), new Set([200, 503]));
  assert.equal(api.child.exitCode, null);
});
