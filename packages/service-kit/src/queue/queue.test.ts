import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually, startNetworkFaultProxy, withClient } from "@ehr-marketplace/test-kit";
import { isDatabaseUnavailable } from "../database/database-unavailable.ts";
import { createLogger } from "../telemetry/logger.ts";
import { startQueue } from "./queue.ts";

test("logs the reason and the queue of an error that pg-boss reports", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "empty");
  const lines: string[] = [];
  const logger = createLogger({ service: "test", level: "error" }, { write: (line) => void lines.push(line) });
  const options = { url: serviceUrl, service: "test", statementTimeoutMs: 5_000, logger, supervisesJobs: false };
  const queue = await startQueue(options);
  cleanUp(() => queue.stop());
  await withClient(ownerUrl, (client) =>
    client.query("revoke all on all tables in schema pgboss from marketplace_service"),
  );
  await queue.boss().work("chores", { pollingIntervalSeconds: 0.5 }, () => Promise.resolve());
  await eventually("the error is logged", 20_000, () => lines.length > 0);
  const {
    msg,
    err,
    queue: name,
  } = JSON.parse(lines[0] ?? "") as { msg: string; err: { message: string }; queue: string };
  assert.equal(msg, "pg-boss reported an error; it retries");
  assert.match(err.message, /^permission denied for table /);
  assert.equal(name, "chores");
});

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
