import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { type QueryResult, sql } from "kysely";
import { createLogger } from "../telemetry/logger.ts";
import { startTracing } from "../telemetry/tracing.ts";
import { connectDatabase, type Database } from "./connect.ts";
import { executePrepared } from "./execute-prepared.ts";

async function connectOnce(t: TestContext) {
  const cleanUp = cleanUpAfter(t);
  const traced: [string, boolean][] = [];
  const database: Database<unknown> = connectDatabase({
    url: (await cloneDatabase(cleanUp)).serviceUrl,
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
