import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, beforeEach, describe, test } from "node:test";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { Client } from "pg";
import { Registry } from "prom-client";
import type { DB } from "./database-schema.ts";
import { createDeliveryMetrics, readBacklog } from "./delivery/delivery-metrics.ts";
import { deleteExpiredResponses } from "./idempotency/run-idempotently.ts";
import { createFolderStorage } from "./media/folder-storage.ts";
import { scheduledJobs } from "./queue/queues.ts";
import { createScheduledWork, type MaintenanceDeps, runMaintenance } from "./scheduled-jobs.ts";

const dayMs = 86_400_000;
const nameOf = (day: number): string =>
  `delivery_attempts_${new Date(Date.now() + day * dayMs).toISOString().slice(0, 10).replaceAll("-", "")}`;

describe("maintenance", () => {
  const cleanUp = cleanUpAfter();
  let ownerUrl: string;
  let deps: MaintenanceDeps;
  let logged: { step?: string; logDays?: number; leastDays?: number }[];
  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = cloned);
    const { database, queue, clock } = await connectAsService<DB>(cleanUp, cloned.serviceUrl);
    const metrics = createDeliveryMetrics(new Registry(), () => readBacklog(database));
    const write = (line: string): unknown => logged.push(JSON.parse(line) as (typeof logged)[number]);
    const logger = createLogger({ service: "test", level: "warn" }, { write });
    const stopped = new AbortController().signal;
    const storage = createFolderStorage(await mkdtemp(join(tmpdir(), "media-")));
    deps = { database, queue, storage, clock, logger, metrics, logDays: 90, stopped };
  });
  beforeEach(() => {
    logged = [];
  });
  const rows = async <T extends object>(sql: string, ...values: unknown[]): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(sql, values))).rows;
  const days = async (): Promise<string[]> =>
    (
      await rows<{ name: string }>(
        "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'delivery_attempts'::regclass order by 1",
      )
    ).map(({ name }) => name);
  const makeDay = (day: number): Promise<unknown> => {
    const at = (nth: number): string => `${new Date(Date.now() + nth * dayMs).toISOString().slice(0, 10)}T00:00:00Z`;
    return rows(
      `create table ${nameOf(day)} partition of delivery_attempts for values from ('${at(day)}') to ('${at(day + 1)}')`,
    );
  };
  const insertResponses = (count: number, age: string): Promise<unknown> =>
    rows(
      `insert into idempotent_responses
         (request, body_digest, response, created_at)
       select sha256(gen_random_uuid()::text::bytea), '1.' || repeat('A', 43), '{}', now() - $2::interval
       from generate_series(1, $1::integer)`,
      count,
      age,
    );
  const countResponses = async (): Promise<number> => (await rows("select from idempotent_responses")).length;

  test("runs while the log is being dumped, and so do attempts; old partitions are dropped once they are not being read", async () => {
    const old = [-100, -95, -92];
    for (const day of old) await makeDay(day);
    await makeDay(-90);
    await rows(`drop table ${nameOf(7)}`);
    const attempt = (): Promise<unknown> =>
      rows(`insert into delivery_attempts (id, delivery_id, recipient_id, url, attempt, started_at)
        values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), '', 1, now())`);
    /** Returns the longest time that an attempt waited. */
    const maintainBesideDump = async (dump: Client): Promise<number> => {
      await dump.query("begin");
      await dump.query("lock table delivery_attempts in access share mode");
      const maintenance = { done: false };
      let maxMs = 0;
      const running = runMaintenance(deps).finally(() => {
        maintenance.done = true;
      });
      do {
        const began = performance.now();
        await attempt();
        maxMs = Math.max(maxMs, performance.now() - began);
      } while (!maintenance.done);
      await running;
      const there = await days();
      assert.ok(there.includes(nameOf(7)), "the last day is made beside the dump");
      for (const day of old) assert.ok(there.includes(nameOf(day)));
      await dump.query("commit");
      return maxMs;
    };
    // On a busy machine, some may wait longer.
    await eventually(
      "no attempt waits for 3 s",
      120_000,
      async () => (await withClient(ownerUrl, maintainBesideDump)) < 3_000,
    );
    await runMaintenance(deps);
    const left = await days();
    assert.deepEqual(left.slice(0, 2), [nameOf(-90), nameOf(-1)]);
    assert.equal(left.at(-1), nameOf(7));
    assert.deepEqual(logged, []);
  });

  test("keeps the log for 90 days when configured with less, and logs a warning", async () => {
    await makeDay(-91);
    await runMaintenance({ ...deps, logDays: 1 });
    assert.deepEqual((await days()).slice(0, 2), [nameOf(-90), nameOf(-1)]);
    assert.deepEqual(
      logged.map((line) => [line.logDays, line.leastDays]),
      [[1, 90]],
    );
    await rows(`drop table ${nameOf(-90)}`);
  });

  test("creates partitions with all indexes and checks", async () => {
    await rows(`drop table ${nameOf(7)}`);
    await runMaintenance(deps);
    const made = (name: string) =>
      rows<{ told: string }>(
        `select replace(pg_get_indexdef(indexrelid), $1, '') as told from pg_index where indrelid = $1::regclass
         union select pg_get_constraintdef(oid) from pg_constraint where conrelid = $1::regclass order by 1`,
        name,
      );
    assert.deepEqual(await made(nameOf(7)), await made(nameOf(6)));
    assert.ok((await made(nameOf(7))).length >= 4);
  });

  test("drops no partition that isn't old by the database's clock", async () => {
    const ahead = { ...deps, clock: () => new Date(Date.now() + 95 * dayMs) };
    const earlier = await days();
    await runMaintenance(ahead);
    const now = await days();
    assert.deepEqual(
      earlier.filter((name) => !now.includes(name)),
      [],
    );
  });

  test("deletes expired idempotent responses in batches, up to a limit per run, and skips locked ones", async () => {
    await insertResponses(1_000, "25 hours");
    await insertResponses(3, "23 hours");
    const { database, clock } = deps;
    assert.equal(await deleteExpiredResponses(database, clock(), { batchSize: 100, maxBatches: 3 }), 300);
    await withClient(ownerUrl, async (client) => {
      await client.query("begin");
      await client.query("select from idempotent_responses order by created_at limit 1 for update");
      await runMaintenance(deps);
      assert.equal(await countResponses(), 4);
      await client.query("commit");
    });
    await runMaintenance(deps);
    assert.equal(await countResponses(), 3);
    assert.deepEqual(logged, []);
  });

  test("runs the other steps when one fails, and logs which", async () => {
    await rows("revoke execute on function prepare_attempt_partitions from marketplace_service");
    await insertResponses(1, "25 hours");
    await runMaintenance(deps);
    await rows("grant execute on function prepare_attempt_partitions to marketplace_service");
    assert.equal(await countResponses(), 3);
    assert.deepEqual(
      logged.map(({ step }) => step),
      ["create partitions of the delivery log"],
    );
  });

  test("ends certifications at midnight in UTC, apart from the hourly steps", async () => {
    const job = createScheduledWork(deps).jobs["end-certifications"];
    assert.equal(job?.cron, "0 0 * * *");
    await rows(`update apps set certified_until = current_date - 2,
      trust = json_build_object('certifications', json_build_array(json_build_object('kind', 'SOC2', 'validUntil', current_date - 2)))
      where slug = 'cuffline'`);
    await job.work();
    assert.deepEqual(
      await rows(
        "select apps.certified_until, app_dto::json #> '{trust,certifications}' as shown from apps join app_listings using (slug) where slug = 'cuffline'",
      ),
      [{ certified_until: null, shown: [] }],
    );
  });

  test("is not retried before its next scheduled run when it fails", async () => {
    const boss = deps.queue.boss();
    await boss.send(scheduledJobs, { chore: "keep-house" });
    const [job] = await boss.fetch(scheduledJobs);
    assert.ok(job !== undefined);
    await boss.fail(scheduledJobs, job.id);
    assert.deepEqual(await boss.fetch(scheduledJobs), []);
  });
});
