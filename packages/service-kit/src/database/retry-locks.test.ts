import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { retryLocks } from "./retry-locks.ts";

test("gives up after a while, and fails at once for any other reason than a lock", async (t) => {
  const { ownerUrl } = await cloneDatabase(cleanUpAfter(t));
  const run = async (statement: string) => {
    const reports: string[] = [];
    const work = retryLocks(
      ownerUrl,
      (client) => client.query(statement),
      (line) => reports.push(line),
      {
        timeoutMs: 50,
        giveUpMs: 1,
      },
    );
    await work.catch((error: unknown) => reports.push(String(error)));
    return reports;
  };
  await withClient(ownerUrl, async (client) => {
    await client.query("create table held ()");
    await client.query("begin; lock table held in access exclusive mode");
    const [gaveUp, ...others] = await run("select from held");
    assert.match(gaveUp ?? "", /^Error: gave up after 1 min, because .* holds.* a lock that it needs$/);
    assert.deepEqual(others, []);
  });
  assert.deepEqual(await run("select from nowhere"), ['error: relation "nowhere" does not exist']);
});
