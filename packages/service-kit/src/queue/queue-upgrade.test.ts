import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { getRollbackPlans } from "pg-boss";
import { createLogger } from "../telemetry/logger.ts";
import { installQueues } from "./install-queues.ts";
import { startQueue } from "./queue.ts";
import { neededQueueVersion, QueueVersionError } from "./queue-version.ts";

const queues = { chores: { policy: "standard", retryLimit: 0 } } as const;

test("the migration step upgrades the queue's schema only on demand; a process that waits for it starts then", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "empty");
  const asOwner = <Row extends object>(statement: string) =>
    withClient(ownerUrl, async (client) => (await client.query<Row>(statement)).rows);
  const installed = async (): Promise<unknown> => (await asOwner("select version from pgboss.version"))[0];
  const reports: string[] = [];
  const install = async (upgradesQueue?: boolean): Promise<void> =>
    installQueues(ownerUrl, queues, "marketplace_service", {
      ...(upgradesQueue === undefined ? {} : { upgradesQueue }),
      report: (line) => reports.push(line),
    });
  const start = async () => {
    const logger = createLogger({ service: "test", level: "silent" });
    const options = { url: serviceUrl, service: "test", statementTimeoutMs: 5_000, logger, supervisesJobs: false };
    const queue = await startQueue(options);
    cleanUp(() => queue.stop());
    return queue;
  };
  const whyNotStarted = (queue: Awaited<ReturnType<typeof start>>): unknown => {
    try {
      queue.boss();
      return undefined;
    } catch (error) {
      return (error as Error).cause;
    }
  };

  await asOwner("drop schema pgboss cascade");
  await install(false);
  assert.deepEqual(await installed(), { version: neededQueueVersion }, "a first installation needs no demand");
  assert.deepEqual(reports, []);

  await asOwner(getRollbackPlans("pgboss", neededQueueVersion));
  await install(false);
  assert.deepEqual(await installed(), { version: neededQueueVersion - 1 });
  assert.match(reports.join(), /has version \d+, and this version of the service needs \d+\..* again with --queue\.$/);
  const early = await start();
  assert.ok(whyNotStarted(early) instanceof QueueVersionError);
  assert.match(String(whyNotStarted(early)), /run the migration step of this version of the service with --queue$/);

  await install(true);
  assert.deepEqual(await installed(), { version: neededQueueVersion });
  assert.deepEqual(await asOwner("select from pgboss.bam where status <> 'completed'"), [], "every index is built");
  await eventually("it has started", 60_000, () => whyNotStarted(early) === undefined);

  // As a newer version of the service does.
  await asOwner("update pgboss.version set version = version + 1");
  assert.notEqual(await early.boss().send("chores", {}), null, "a running process goes on");
  const restarted = await start();
  assert.match(String(whyNotStarted(restarted)), /a newer version of the service has upgraded it/);
  await install(true);
  assert.deepEqual(await installed(), { version: neededQueueVersion + 1 });
  assert.match(reports.at(-1) ?? "", /A newer version has upgraded it, so it was left as it is\.$/);
});
