import assert from "node:assert/strict";
import { before, beforeEach, describe, test } from "node:test";
import { withClient } from "@ehr-marketplace/dev/postgres";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { cleanUpAfter, cloneDatabase, connectTo } from "@ehr-marketplace/tests/support";
import { Registry } from "prom-client";
import type { DB } from "../../database-schema.ts";
import { forgetAnswers } from "../../idempotency/forget-answers.ts";
import { chores } from "../../queue/queues.ts";
import { keepHouse, type Tending } from "./chores.ts";
import { createDeliveryMetrics } from "./delivery-metrics.ts";
import { readBacklog } from "./sweep.ts";

const dayMs = 86_400_000;
const nameOf = (day: number): string =>
  `delivery_attempts_${new Date(Date.now() + day * dayMs).toISOString().slice(0, 10).replaceAll("-", "")}`;

describe("house-keeping", () => {
  const cleanUp = cleanUpAfter();
  let ownerUrl: string;
  let tending: Tending;
  let logged: { step?: string; logDays?: number; leastDays?: number }[];
  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = cloned);
    const { database, queue, clock } = await connectTo<DB>(cleanUp, cloned.serviceUrl);
    const metrics = createDeliveryMetrics(new Registry(), () => readBacklog(database));
    const write = (line: string): unknown => logged.push(JSON.parse(line) as (typeof logged)[number]);
    const logger = createLogger({ service: "test", level: "warn" }, { write });
    const stopped = new AbortController().signal;
    tending = { database, queue, clock, logger, metrics, logDays: 90, jobs: {}, stopped };
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
  const answer = (count: number, age: string): Promise<unknown> =>
    rows(
      `insert into idempotent_answers
         (request, body_digest, answer, answered_at)
       select sha256(gen_random_uuid()::text::bytea), '1.' || repeat('A', 43), '{}', now() - $2::interval
       from generate_series(1, $1::integer)`,
      count,
      age,
    );
  const answers = async (): Promise<number> => (await rows("select from idempotent_answers")).length;

  test("goes on while somebody dumps the log, and so do attempts; old days are dropped once nobody reads them", async () => {
    const old = [-100, -95, -92];
    for (const day of old) await makeDay(day);
    await makeDay(-90);
    await rows(`drop table ${nameOf(7)}`);
    const attempt = (): Promise<unknown> =>
      rows(`insert into delivery_attempts (id, delivery_id, recipient_id, url, attempt, started_at)
        values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), '', 1, now())`);
    let longestMs = 0;
    await withClient(ownerUrl, async (dump) => {
      await dump.query("begin");
      await dump.query("lock table delivery_attempts in access share mode");
      const house = { kept: false };
      const kept = keepHouse(tending).finally(() => {
        house.kept = true;
      });
      do {
        const began = performance.now();
        await attempt();
        longestMs = Math.max(longestMs, performance.now() - began);
      } while (!house.kept);
      await kept;
      const there = await days();
      assert.ok(there.includes(nameOf(7)), "the last day is made beside the dump");
      for (const day of old) assert.ok(there.includes(nameOf(day)));
      await dump.query("commit");
    });
    assert.ok(longestMs < 3_000, `an attempt waited for ${longestMs} ms`);
    await keepHouse(tending);
    const left = await days();
    assert.deepEqual(left.slice(0, 2), [nameOf(-90), nameOf(-1)]);
    assert.equal(left.at(-1), nameOf(7));
    assert.deepEqual(logged, []);
  });

  test("keeps the log for 90 days although it is told to keep less, and says so", async () => {
    await makeDay(-91);
    await keepHouse({ ...tending, logDays: 1 });
    assert.deepEqual((await days()).slice(0, 2), [nameOf(-90), nameOf(-1)]);
    assert.deepEqual(
      logged.map((line) => [line.logDays, line.leastDays]),
      [[1, 90]],
    );
    await rows(`drop table ${nameOf(-90)}`);
  });

  test("makes days that are like any other, indexes and checks included", async () => {
    await rows(`drop table ${nameOf(7)}`);
    await keepHouse(tending);
    const made = (name: string) =>
      rows<{ told: string }>(
        `select replace(pg_get_indexdef(indexrelid), $1, '') as told from pg_index where indrelid = $1::regclass
         union select pg_get_constraintdef(oid) from pg_constraint where conrelid = $1::regclass order by 1`,
        name,
      );
    assert.deepEqual(await made(nameOf(7)), await made(nameOf(6)));
    assert.ok((await made(nameOf(7))).length >= 4);
  });

  test("drops no day that isn't old by the database's clock, whatever its own says", async () => {
    const ahead = { ...tending, clock: () => new Date(Date.now() + 95 * dayMs) };
    const earlier = await days();
    await keepHouse(ahead);
    const now = await days();
    assert.deepEqual(
      earlier.filter((name) => !now.includes(name)),
      [],
    );
  });

  test("forgets answers in batches, so many in one go, and waits for none that is in use", async () => {
    await answer(1_000, "25 hours");
    await answer(3, "23 hours");
    const { database, clock } = tending;
    assert.equal(await forgetAnswers(database, clock(), { rows: 100, most: 3 }), 300);
    await withClient(ownerUrl, async (client) => {
      await client.query("begin");
      await client.query("select from idempotent_answers order by answered_at limit 1 for update");
      await keepHouse(tending);
      assert.equal(await answers(), 4);
      await client.query("commit");
    });
    await keepHouse(tending);
    assert.equal(await answers(), 3);
    assert.deepEqual(logged, []);
  });

  test("does all the rest where a part of it fails, and says which", async () => {
    await rows("revoke execute on function prepare_attempt_partitions from marketplace_service");
    await answer(1, "25 hours");
    await keepHouse(tending);
    await rows("grant execute on function prepare_attempt_partitions to marketplace_service");
    assert.equal(await answers(), 3);
    assert.deepEqual(
      logged.map(({ step }) => step),
      ["the log's next days are made"],
    );
  });

  test("that fails comes again with the clock, and not before all else", async () => {
    const boss = tending.queue.boss();
    await boss.send(chores, { chore: "keep-house" });
    const [job] = await boss.fetch(chores);
    assert.ok(job !== undefined);
    await boss.fail(chores, job.id);
    assert.deepEqual(await boss.fetch(chores), []);
  });
});
