import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { createLogger } from "../telemetry/logger.ts";
import { startTracing } from "../telemetry/tracing.ts";
import { connectDatabase } from "./connect.ts";
import { migrate, pendingMigrations } from "./migrate.ts";

const first = { name: "0001-things", sql: "create table things (id int primary key);\ninsert into things values (1);" };
const second = { name: "0002-more-things", sql: "insert into things values (2);" };

/** Creates an empty database, and a directory with these migrations. */
async function fresh(t: TestContext, ...migrations: { name: string; sql: string }[]) {
  const cleanUp = cleanUpAfter(t);
  const { ownerUrl: url } = await cloneDatabase(cleanUp);
  await withClient(url, (client) => client.query("drop schema public cascade; create schema public"));
  const directory = await mkdtemp(join(tmpdir(), "service-kit-migrations-"));
  cleanUp(() => rm(directory, { recursive: true }));
  const add = (migration: { name: string; sql: string }): Promise<void> =>
    writeFile(join(directory, `${migration.name}.sql`), `-- Up Migration\n${migration.sql}\n`);
  for (const migration of migrations) await add(migration);
  const database = connectDatabase({
    url,
    service: "migrate-test",
    poolSize: 1,
    statementTimeoutMs: 5_000,
    logger: createLogger({ service: "test", level: "silent" }),
    tracing: await startTracing("test", undefined),
  });
  cleanUp(() => database.pool.end());
  const things = async (): Promise<number[]> => {
    const { rows } = await database.pool.query<{ id: number }>("select id from things order by id");
    return rows.map((row) => row.id);
  };
  return {
    url,
    directory,
    add,
    things,
    pending: () => pendingMigrations(directory)(database.pool),
    pool: database.pool,
  };
}

test("runs pending migrations in order and returns their names", async (t) => {
  const { url, directory, things } = await fresh(t, second, first);
  assert.deepEqual(await migrate(url, directory), [first.name, second.name]);
  assert.deepEqual(await migrate(url, directory), []);
  assert.deepEqual(await things(), [1, 2]);
});

test("concurrent migrators both succeed, and each migration runs once", async (t) => {
  const slow = { name: first.name, sql: `${first.sql}\nselect pg_sleep(0.3);` };
  const { url, directory, things } = await fresh(t, slow, second);
  const applied = await Promise.all([migrate(url, directory), migrate(url, directory), migrate(url, directory)]);
  assert.deepEqual(applied.flat().toSorted(), [first.name, second.name]);
  assert.deepEqual(await things(), [1, 2]);
});

test("all migrations are pending on a new database", async (t) => {
  const { pending } = await fresh(t, first, second);
  assert.deepEqual(await pending(), [first.name, second.name]);
});

test("no migration is pending after migrating, until the code has a new one", async (t) => {
  const { url, directory, pending, add } = await fresh(t, first);
  await migrate(url, directory);
  assert.deepEqual(await pending(), []);
  await add(second);
  assert.deepEqual(await pending(), [second.name]);
});

test("no migration is pending on a database that is ahead of the code", async (t) => {
  const { url, directory, pending } = await fresh(t, first, second);
  await migrate(url, directory);
  await rm(join(directory, `${second.name}.sql`));
  assert.deepEqual(await pending(), []);
});

test("only SQL files are migrations", async (t) => {
  const { directory, pending } = await fresh(t, first);
  await writeFile(join(directory, "README.md"), "not a migration");
  assert.deepEqual(await pending(), [first.name]);
});

test("a failed migration is reported with its name, and the whole run is rolled back", async (t) => {
  const { url, directory, pending, pool } = await fresh(t, first, {
    name: second.name,
    sql: "insert into nowhere values (1);",
  });
  await assert.rejects(migrate(url, directory), new RegExp(`^Error: The migration ${second.name} failed: .*nowhere`));
  assert.deepEqual(await pending(), [first.name, second.name]);
  await assert.rejects(pool.query("select from things"), /does not exist/);
});

test("a migration that needs a locked table lets readers pass, and says who holds the lock", async (t) => {
  const { url, directory, add, pool } = await fresh(t, first);
  await migrate(url, directory);
  await add({ name: second.name, sql: "alter table things add column name text;" });
  const reports: string[] = [];
  let migrated: Promise<string[]> | undefined;
  await withClient(`${url}?application_name=nightly-dump`, async (client) => {
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    await client.query("begin");
    await client.query("select from things where id <> 4711");
    migrated = migrate(url, directory, { report: (line) => reports.push(line) });
    const holder = new RegExp(
      `^Waiting, because a transaction holds \\(process ${rows[0]?.pid} of \\w+ \\(nightly-dump\\) for`,
    );
    await eventually("it says who holds the lock", 60_000, () => reports.some((line) => holder.test(line)));
    // It may wait behind the next attempt, but not for the transaction.
    await pool.query("select from things");
    await client.query("commit");
  });
  assert.deepEqual(await migrated, [second.name]);
  await pool.query("select name from things");
  assert.doesNotMatch(reports.join(), /4711/, "no statement");
});
