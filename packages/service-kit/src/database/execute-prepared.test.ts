import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { type QueryResult, sql } from "kysely";
import { createLogger } from "../telemetry/logger.ts";
import { startTracing } from "../telemetry/tracing.ts";
import { connectDatabase, type Database } from "./connect.ts";
import { deferRows, executeDeferred, executePrepared, useGenericPlans } from "./execute-prepared.ts";

async function connectOnce(t: TestContext, { asOwner = false } = {}) {
  const cleanUp = cleanUpAfter(t);
  const cloned = await cloneDatabase(cleanUp);
  const traced: [string, boolean][] = [];
  const database: Database<unknown> = connectDatabase({
    url: cloned[asOwner ? "ownerUrl" : "serviceUrl"],
    service: "prepared-test",
    poolSize: 1,
    statementTimeoutMs: 5_000,
    logger: createLogger({ service: "test", level: "silent" }),
    tracing: {
      ...(await startTracing("test", undefined)),
      recordQuery: (text, _milliseconds, failed) => traced.push([text, failed]),
    },
  });
  cleanUp(() => database.query.destroy());
  const listPrepared = async (): Promise<unknown[]> =>
    (await database.pool.query("select name, generic_plans + custom_plans as runs from pg_prepared_statements")).rows;
  return { ...database, traced, listPrepared };
}

test("a prepared statement is parsed once, even after failures, and traced without its values", async (t) => {
  const { query, traced, listPrepared } = await connectOnce(t);
  const divide = (by: number): Promise<QueryResult<{ divided: number }>> =>
    executePrepared(query, "divide", sql<{ divided: number }>`select 10 / ${by}::int as divided`);
  assert.deepEqual((await divide(2)).rows, [{ divided: 5 }]);
  await assert.rejects(divide(0), /division by zero/);
  assert.deepEqual((await divide(5)).rows, [{ divided: 2 }]);
  assert.deepEqual(await listPrepared(), [{ name: "divide", runs: "2" }]);
  const text = "select 10 / $1::int as divided";
  assert.deepEqual(traced, [
    [text, false],
    [text, true],
    [text, false],
  ]);
});

test("within a transaction, too, exactly the statements that are executed as prepared are prepared", async (t) => {
  const { query, listPrepared } = await connectOnce(t);
  const halve = (given: number): Promise<unknown> =>
    query.transaction().execute(async (transaction) => {
      await sql`select ${given}::int as whole`.execute(transaction);
      const { rows } = await executePrepared(transaction, "halve", sql`select ${given}::int / 2 as half`);
      return rows[0];
    });
  assert.deepEqual([await halve(4), await halve(10)], [{ half: 2 }, { half: 5 }]);
  assert.deepEqual(await listPrepared(), [{ name: "halve", runs: "2" }]);
});

test("a prepared statement needs no parameters", async (t) => {
  const { query, listPrepared } = await connectOnce(t);
  for (const _ of [1, 2]) await executePrepared(query, "now", sql`select now()`);
  assert.deepEqual(await listPrepared(), [{ name: "now", runs: "2" }]);
});

describe("a deferred statement", () => {
  const insert = (id: number) => sql`insert into numbers values (${id})`;
  const connectWithTable = async (t: TestContext) => {
    const connected = await connectOnce(t, { asOwner: true });
    await connected.pool.query("create table numbers (id integer primary key)");
    const ids = async (): Promise<number[]> =>
      (await connected.pool.query<{ id: number }>("select id from numbers order by id")).rows.map(({ id }) => id);
    return { ...connected, ids };
  };

  test("is executed before the next one", async (t) => {
    const { query, ids } = await connectWithTable(t);
    const seen = await query.transaction().execute(async (transaction) => {
      for (const id of [1, 2, 3]) await executeDeferred(transaction, "insert", insert(id));
      return (await sql<{ count: number }>`select count(*)::int as count from numbers`.execute(transaction)).rows;
    });
    assert.deepEqual([seen, await ids()], [[{ count: 3 }], [1, 2, 3]]);
  });

  test("is committed if it is the last one", async (t) => {
    const { query, ids } = await connectWithTable(t);
    await query.transaction().execute((transaction) => executeDeferred(transaction, "insert", insert(1)));
    assert.deepEqual(await ids(), [1]);
  });

  test("returns its rows after the next one, and after the commit", async (t) => {
    const { query } = await connectWithTable(t);
    const returning = (id: number) => sql<{ id: number }>`insert into numbers values (${id}) returning id`;
    const { first, last } = await query.transaction().execute(async (transaction) => {
      const readFirst = await deferRows(transaction, "returning", returning(1));
      await sql`select 1`.execute(transaction);
      const readSecond = await deferRows(transaction, "returning", returning(3));
      assert.deepEqual(await readSecond(), [{ id: 3 }], "without another statement");
      return { first: await readFirst(), last: await deferRows(transaction, "returning", returning(2)) };
    });
    assert.deepEqual([first, await last()], [[{ id: 1 }], [{ id: 2 }]]);
  });

  test("that fails makes the next one fail with its error, and the transaction roll back", async (t) => {
    const { query, ids } = await connectWithTable(t);
    const failing = query.transaction().execute(async (transaction) => {
      for (const id of [1, 1, 2]) await executeDeferred(transaction, "insert", insert(id));
      await sql`select 1`.execute(transaction);
    });
    await assert.rejects(failing, /duplicate key/);
    assert.deepEqual(await ids(), []);
  });

  test("that fails makes the commit fail with its error", async (t) => {
    const { query, ids } = await connectWithTable(t);
    const failing = query.transaction().execute(async (transaction) => {
      await sql`insert into numbers values (5)`.execute(transaction);
      for (const id of [1, 1]) await executeDeferred(transaction, "insert", insert(id));
    });
    await assert.rejects(failing, /duplicate key/);
    assert.deepEqual(await ids(), []);
  });

  test("is rolled back with its transaction", async (t) => {
    const { query, ids } = await connectWithTable(t);
    const failing = query.transaction().execute(async (transaction) => {
      await executeDeferred(transaction, "insert", insert(1));
      throw new Error("refused");
    });
    await assert.rejects(failing, /refused/);
    assert.deepEqual(await ids(), []);
  });
});

test("generic plans are used until the end of the transaction", async (t) => {
  const { query, listPrepared } = await connectOnce(t);
  const find = (database: typeof query, ids: number[]): Promise<unknown> =>
    executePrepared(database, "find", sql`select from pg_class where oid = any (${ids}::oid[])`);
  await query.transaction().execute(async (transaction) => {
    await useGenericPlans(transaction);
    await find(transaction, [1]);
  });
  await find(query, [1]);
  const plans = "select generic_plans, custom_plans from pg_prepared_statements where name = 'find'";
  assert.deepEqual((await sql.raw(plans).execute(query)).rows, [{ generic_plans: "1", custom_plans: "1" }]);
  assert.equal((await listPrepared()).length, 2);
});
