import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { withClient } from "@ehr-marketplace/dev/postgres";
import {
  assertProblem,
  type CleanUp,
  cleanUpAfter,
  cloneDatabase,
  eventually,
  startSeveredProxy,
} from "@ehr-marketplace/tests/support";
import { sql } from "kysely";
import { startTestServer } from "../http/server.test-support.ts";
import { createLogger } from "../telemetry/logger.ts";
import { startTracing, type Tracing } from "../telemetry/tracing.ts";
import { connectDatabase, type Database } from "./connect.ts";
import { isDatabaseAway } from "./database-away.ts";

async function connected(cleanUp: CleanUp, url: string, statementTimeoutMs = 5_000, poolSize = 2, tracing?: Tracing) {
  const logged: Record<string, unknown>[] = [];
  const database: Database<unknown> = connectDatabase({
    url,
    service: "connect-test",
    poolSize,
    statementTimeoutMs,
    logger: createLogger({ service: "test", level: "info" }, { write: (line) => logged.push(JSON.parse(line)) }),
    tracing: tracing ?? (await startTracing("test", undefined)),
  });
  cleanUp(() => database.query.destroy());
  return { ...database, logged };
}

/** What a route answers whose query fails as the real database makes it fail. */
async function answerOfQuery(t: TestContext, database: Database<unknown>, query: string): Promise<Response> {
  const running = await startTestServer(cleanUpAfter(t), {
    routes: (server) => server.get("/read", () => sql.raw(query).execute(database.query)),
  });
  return fetch(`${running.url}/read`);
}

async function assertAway(answer: Response): Promise<void> {
  const { detail } = await assertProblem(answer, 503, "unavailable");
  assert.equal(detail, "The database can't be reached or answers too slowly.");
  assert.match(String(answer.headers.get("retry-after")), /^[1-9]\d*$/);
}

test("each connection has the time-outs and the name that were asked for", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { pool } = await connected(cleanUp, (await cloneDatabase(cleanUp)).serviceUrl, 1_234);
  const settings = ["statement_timeout", "idle_in_transaction_session_timeout", "application_name"];
  const { rows } = await pool.query(`select ${settings.map((each) => `current_setting('${each}') as ${each}`).join()}`);
  assert.deepEqual(rows, [
    { statement_timeout: "1234ms", idle_in_transaction_session_timeout: "1234ms", application_name: "connect-test" },
  ]);
});

test("a prepared statement is parsed once, though it failed for some values, and is traced without them", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const traced: [string, boolean][] = [];
  const { prepared, pool } = await connected(cleanUp, (await cloneDatabase(cleanUp)).serviceUrl, 5_000, 1, {
    ...(await startTracing("test", undefined)),
    recordQuery: (text, _milliseconds, failed) => traced.push([text, failed]),
  });
  const statement = "select 10 / $1::int as divided";
  assert.deepEqual(await prepared("divide", statement, [2]), [{ divided: 5 }]);
  await assert.rejects(prepared("divide", statement, [0]), /division by zero/);
  assert.deepEqual(await prepared("divide", statement, [5]), [{ divided: 2 }]);
  const { rows } = await pool.query("select name, generic_plans + custom_plans as runs from pg_prepared_statements");
  assert.deepEqual(rows, [{ name: "divide", runs: "2" }]);
  assert.deepEqual(traced, [
    [statement, false],
    [statement, true],
    [statement, false],
  ]);
});

test("a statement that says so is planned once on its connection, also within a transaction; no other is", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { query, pool } = await connected(cleanUp, (await cloneDatabase(cleanUp)).serviceUrl, 5_000, 1);
  const halved = async (given: number): Promise<unknown> =>
    query.transaction().execute(async (transaction) => {
      await sql`select ${given}::int as whole`.execute(transaction);
      const { rows } = await sql`/* planned once: halve */
        select ${given}::int / 2 as half`.execute(transaction);
      return rows[0];
    });
  assert.deepEqual([await halved(4), await halved(10)], [{ half: 2 }, { half: 5 }]);
  const { rows } = await pool.query("select name, generic_plans + custom_plans as runs from pg_prepared_statements");
  assert.deepEqual(rows, [{ name: "halve", runs: "2" }]);
});

test("a statement that takes too long is ended, answered as 503, and the connection serves on", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const database = await connected(cleanUp, (await cloneDatabase(cleanUp)).serviceUrl, 100, 1);
  await assertAway(await answerOfQuery(t, database, "select pg_sleep(60)"));
  assert.deepEqual((await database.pool.query("select 1 as one")).rows, [{ one: 1 }]);
});

test("a transaction that is left idle is ended, so that its locks are free", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp);
  const { pool } = await connected(cleanUp, serviceUrl, 100);
  const client = await pool.connect();
  cleanUp(async () => client.release(true));
  client.on("error", () => undefined);
  await client.query("begin");
  const open =
    "select from pg_stat_activity where application_name = 'connect-test' and state like 'idle in transaction%'";
  await eventually("it is ended", 5_000, () =>
    withClient(ownerUrl, async (observer) => (await observer.query(open)).rowCount === 0),
  );
  await assert.rejects(client.query("select 1"), isDatabaseAway);
});

test("a connection that breaks while idle is logged and replaced; the process lives on", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp);
  const { pool, logged } = await connected(cleanUp, serviceUrl);
  await pool.query("select 1");
  const end = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'connect-test'";
  await withClient(ownerUrl, (client) => client.query(end));
  await eventually("it is logged", 20_000, () => logged.some((line) => String(line["msg"]).includes("idle database")));
  assert.equal((await pool.query("select 1")).rowCount, 1);
});

test("a database whose server isn't there is 503 with Retry-After", async (t) => {
  const database = await connected(cleanUpAfter(t), "postgres://nobody:hunter2@127.0.0.1:1/nothing");
  await assertAway(await answerOfQuery(t, database, "select 1"));
});

test("a database whose server accepts and says nothing is 503 within seconds", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const silent: Socket[] = [];
  const listening = createServer((socket) => silent.push(socket)).listen(0, "127.0.0.1");
  await once(listening, "listening");
  cleanUp(async () => {
    for (const socket of silent) socket.destroy();
    listening.close();
  });
  const address = listening.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const database = await connected(cleanUp, `postgres://nobody@127.0.0.1:${port}/nothing`);
  const began = performance.now();
  await assertAway(await answerOfQuery(t, database, "select 1"));
  assert.ok(performance.now() - began < 5_000);
});

test("a connection that died without a word is given up with the first statement that gets no answer", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const proxy = await startSeveredProxy(cleanUp, (await cloneDatabase(cleanUp)).serviceUrl);
  const database = await connected(cleanUp, proxy.url, 200, 1);
  const one = async (): Promise<unknown[]> => (await sql`select 1 as one`.execute(database.query)).rows;
  assert.deepEqual(await one(), [{ one: 1 }]);
  proxy.cut("swallowed");
  await assert.rejects(one(), isDatabaseAway);
  proxy.join();
  assert.deepEqual(await one(), [{ one: 1 }]);
});

test("a pool that has no connection to spare is 503 within seconds", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const database = await connected(cleanUp, (await cloneDatabase(cleanUp)).serviceUrl, 60_000, 1);
  const busy = await database.pool.connect();
  cleanUp(async () => busy.release());
  await assertAway(await answerOfQuery(t, database, "select 1"));
});

test("a query that is wrong is 500: the database is there", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const database = await connected(cleanUp, (await cloneDatabase(cleanUp)).serviceUrl);
  await assertProblem(await answerOfQuery(t, database, "select * from no_such_table"), 500, "internal-error");
});
