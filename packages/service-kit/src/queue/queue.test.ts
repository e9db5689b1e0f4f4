import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually, startNetworkFaultProxy } from "@ehr-marketplace/test-kit";
import { isDatabaseUnavailable } from "../database/database-unavailable.ts";
import { createLogger } from "../telemetry/logger.ts";
import { startQueue } from "./queue.ts";

const canBeUsed = (use: () => unknown): boolean => {
  try {
    use();
    return true;
  } catch (error) {
    assert.ok(isDatabaseUnavailable(error), String(error));
    return false;
  }
};

test("a queue whose database is unavailable throws, and starts once the database is available", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl } = await cloneDatabase(cleanUp, "empty");
  const proxy = await startNetworkFaultProxy(cleanUp, serviceUrl);
  proxy.interrupt("reset");
  const logger = createLogger({ service: "test", level: "silent" });
  const options = { url: proxy.url, service: "test", statementTimeoutMs: 5_000, logger, supervisesJobs: false };
  const queue = await startQueue(options);
  cleanUp(() => queue.stop());
  assert.equal(
    canBeUsed(() => queue.boss()),
    false,
  );
  proxy.restore();
  await eventually("it has started", 30_000, () => canBeUsed(() => queue.boss()));
  assert.notEqual(await queue.boss().send("chores", { chore: "none" }), null);
});
