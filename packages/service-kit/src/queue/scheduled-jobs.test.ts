import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually, startNetworkFaultProxy, withClient } from "@ehr-marketplace/test-kit";
import { createLogger } from "../telemetry/logger.ts";
import { type Queue, startQueue } from "./queue.ts";
import { startScheduledJobs } from "./scheduled-jobs.ts";

const queueName = "chores";
const yearly = "0 0 1 1 *";

describe("scheduled jobs", () => {
  const cleanUp = cleanUpAfter();
  const logged: Record<string, unknown>[] = [];
  let queue: Queue;
  let ownerUrl: string;

  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "empty");
    ({ ownerUrl } = cloned);
    const logger = createLogger({ service: "test", level: "warn" }, { write: (line) => logged.push(JSON.parse(line)) });
    const options = { url: cloned.serviceUrl, service: "test", statementTimeoutMs: 5_000, logger };
    queue = await startQueue({ ...options, supervisesJobs: true });
    cleanUp(() => queue.stop());
    const fails = { cron: yearly, work: () => Promise.reject(new Error("it went wrong")) };
    await startScheduledJobs(
      { queue, logger, stopped: new AbortController().signal },
      { queueName, jobs: { fails }, runAtStartup: () => Promise.resolve() },
    );
  });

  /** Queues the job as its schedule does, and waits until it has ended. */
  const run = async (job: string): Promise<string | undefined> => {
    const id = await queue.boss().send(queueName, { chore: job });
    let state: string | undefined;
    await eventually(`${job} has ended`, 20_000, async () => {
      const { rows } = await withClient(ownerUrl, (client) =>
        client.query<{ state: string }>("select state from pgboss.job where id = $1", [id]),
      );
      state = rows[0]?.state;
      return state === "completed" || state === "failed";
    });
    return state;
  };

  test("a failing job is logged with its name and error, and fails", async () => {
    assert.equal(await run("fails"), "failed");
    const [{ level, job, msg, err } = {}] = logged.splice(0);
    assert.deepEqual(
      [level, job, msg],
      ["error", "fails", "failed to run a scheduled job; retrying at its next scheduled time"],
    );
    assert.match(JSON.stringify(err), /it went wrong/);
  });

  test("a job that this version doesn't have is ignored with a warning", async () => {
    assert.equal(await run("unknown"), "completed");
    assert.deepEqual(
      logged.splice(0).map(({ level, job, msg }) => [level, job, msg]),
      [["warn", "unknown", "ignored a scheduled job that this version doesn't have"]],
    );
  });
});

test("while the queue can't start, only its own failure is logged; the jobs are registered once it has started", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl } = await cloneDatabase(cleanUp, "empty");
  const proxy = await startNetworkFaultProxy(cleanUp, serviceUrl);
  proxy.interrupt("reset");
  const logged: string[] = [];
  const write = (line: string): number => logged.push((JSON.parse(line) as { msg: string }).msg);
  const logger = createLogger({ service: "test", level: "warn" }, { write });
  const options = { url: proxy.url, service: "test", statementTimeoutMs: 5_000, logger };
  const queue = await startQueue({ ...options, supervisesJobs: false });
  cleanUp(() => queue.stop());
  let isMaintained = false;
  const registered = startScheduledJobs(
    { queue, logger, stopped: new AbortController().signal },
    { queueName, jobs: {}, runAtStartup: async () => void (isMaintained = true) },
  );
  const failure = "failed to start the queue; retrying in 1 s";
  await eventually("the queue has retried", 20_000, () => logged.filter((msg) => msg === failure).length >= 3);
  assert.deepEqual([isMaintained, new Set(logged)], [false, new Set([failure])]);
  proxy.restore();
  await registered;
  assert.ok(isMaintained);
});

test("a process that stops before its queue has started doesn't wait for it", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const logger = createLogger({ service: "test", level: "silent" });
  const options = { url: "postgres://nobody@127.0.0.1:1/nothing", service: "test", statementTimeoutMs: 5_000, logger };
  const queue = await startQueue({ ...options, supervisesJobs: false });
  cleanUp(() => queue.stop());
  const stopping = new AbortController();
  const scheduled = { queueName, jobs: {}, runAtStartup: () => Promise.reject(new Error("it must not run")) };
  const registered = startScheduledJobs({ queue, logger, stopped: stopping.signal }, scheduled);
  stopping.abort();
  await registered;
});
