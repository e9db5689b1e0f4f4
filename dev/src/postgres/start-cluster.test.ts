import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { startCluster } from "./start-cluster.ts";

test("a second cluster in a folder doesn't start, says that another one runs there, and leaves that one running", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-cluster-"));
  cleanUp(() => rm(directory, { recursive: true }));
  const options = { directory, throwaway: false, settings: { fsync: "off" } };
  const first = await startCluster(options);
  cleanUp(() => first.stop());
  await assert.rejects(startCluster(options), ({ message }: Error) => {
    assert.ok(message.startsWith(`PostgreSQL did not start in ${directory}:\n`), message);
    assert.match(message, /Another PostgreSQL runs there.* Stop that one, or run: npm run dev -- --ephemeral$/);
    assert.doesNotMatch(message, /undefined/);
    return true;
  });
  await withClient(first.url, (client) => client.query("select 1"));
});
