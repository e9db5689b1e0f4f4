import assert from "node:assert/strict";
import { type PlanNode, rowsReadIn } from "@ehr-marketplace/tests/support/executed-plans";
import type { ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import { type CompiledQuery, Kysely, PostgresDialect } from "kysely";
import type { DB } from "./database-schema.ts";

const asText = (value: unknown): string =>
  value instanceof Date ? value.toISOString() : Array.isArray(value) ? `{${value.map(asText).join()}}` : String(value);

/** Number of rows that the only statement of `work` reads under a generic plan, which doesn't depend on parameter values. */
export async function rowsRead(
  { pool }: Pick<ServiceConnection<DB>, "pool">,
  work: (database: Kysely<DB>) => Promise<unknown>,
): Promise<number> {
  const statements: CompiledQuery[] = [];
  const dialect = new PostgresDialect({ pool });
  await work(new Kysely<DB>({ dialect, log: ({ query }) => void statements.push(query) }));
  assert.equal(statements.length, 1, "it is one statement");
  const [{ sql, parameters } = assert.fail()] = statements;
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("set local plan_cache_mode = force_generic_plan");
    await client.query(`prepare measured as ${sql}`);
    const values = parameters.map((value) => client.escapeLiteral(asText(value))).join();
    const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
      `explain (analyze, format json) execute measured (${values})`,
    );
    return rowsReadIn(rows[0]?.["QUERY PLAN"][0].Plan ?? assert.fail());
  } finally {
    await client.query("rollback");
    await client.query("deallocate all");
    client.release();
  }
}
