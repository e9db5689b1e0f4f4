import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import {
  assertPrompt,
  type CleanUp,
  cleanUpAfter,
  cloneDatabase,
  eventually,
  startNetworkFaultProxy,
  withClient,
} from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { sql } from "kysely";
import { startTestServer } from "../http/server.test-support.ts";
import { createLogger } from "../telemetry/logger.ts";
import { startTracing, type Tracing } from "../telemetry/tracing.ts";
import { connectDatabase, type Database } from "./connect.ts";
import { isDatabaseUnavailable } from "./database-unavailable.ts";

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

/** Returns the response of a route that runs this query. */
async function requestQuery(t: TestContext, database: Database<unknown>, query: string): Promise<Response> {
  const running = await startTestServer(cleanUpAfter(t), {
    routes: (server) => server.get("/read", () => sql.raw(query).execute(database.query)),
  });
  return fetch(`${running.url}/read`);
}

async function assertUnavailable(response: Response): Promise<void> {
  const { detail } = await assertProblem(response, 503, "unavailable");
  assert.equal(detail, "The database is unavailable or too slow.");
  assert.match(String(response.headers.get("retry-after")), /^[1-9]\d*$/);
}

test("each connection has the configured time-outs and application name", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { pool } = await connected(cleanUp, (await cloneDatabase(cleanUp)).serviceUrl, 1_234);
  const settings = ["statement_timeout", "idle_in_transaction_session_timeout", "application_name"];
  const { rows } = await pool.query(`select ${settings.map((each) => `current_setting('${each}') as ${each}`).join()}`);
  assert.deepEqual(rows, [
    { statement_timeout: "1234ms", idle_in_transaction_session_timeout: "1234ms", application_name: "connect-test" },
  ]);
});

test("a statement that times out is a 503, and its connection stays usable", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const database = await connected(cleanUp, (await cloneDatabase(cleanUp)).serviceUrl, 100, 1);
  await assertUnavailable(await requestQuery(t, database, "select pg_sleep(60)"));
  assert.deepEqual((await database.pool.query("select 1 as one")).rows, [{ one: 1 }]);
});

test("an idle transaction is ended and releases its locks", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp);
  const { pool } = await connected(cleanUp, serviceUrl, 100);
  const client = await pool.connect();
  cleanUp(async () => client.release(true));
  client.on("error", () => undefined);
  await client.query("begin");
  await client.query("select 1");
  const open =
    "select from pg_stat_activity where application_name = 'connect-test' and state like 'idle in transaction%'";
  await eventually("it is ended", 30_000, () =>
    withClient(ownerUrl, async (observer) => (await observer.query(open)).rowCount === 0),
  );
  await assert.rejects(client.query("select 1"), isDatabaseUnavailable);
});

test("a broken idle connection is logged and replaced", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp);
  const { pool, logged } = await connected(cleanUp, serviceUrl);
  await pool.query("select 1");
  const end = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'connect-test'";
  await withClient(ownerUrl, (client) => client.query(end));
  await eventually("it is logged", 20_000, () => logged.some((line) => String(line["msg"]).includes("idle database")));
  assert.equal((await pool.query("select 1")).rowCount, 1);
});

test("returns 503 with Retry-After when the database server stays down for 2 s", async (t) => {
  const database = await connected(cleanUpAfter(t), "postgres://nobody:hunter2@127.0.0.1:1/nothing");
  await assertPrompt(5_000, async () => {
    const began = performance.now();
    await assertUnavailable(await requestQuery(t, database, "select 1"));
    const elapsedMs = performance.now() - began;
    assert.ok(elapsedMs > 1_900, `${elapsedMs} ms`);
  });
});

test("a process that was busy for 2 s doesn't take the database for unavailable", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { query } = await connected(cleanUp, (await cloneDatabase(cleanUp)).serviceUrl);
  const result = sql`select 1 as one`.execute(query);
  const until = performance.now() + 2_200;
  setImmediate(() => {
    while (performance.now() < until);
  });
  assert.deepEqual((await result).rows, [{ one: 1 }]);
});

test("a request waits for a database that returns within 2 s", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const proxy = await startNetworkFaultProxy(cleanUp, (await cloneDatabase(cleanUp)).serviceUrl);
  const database = await connected(cleanUp, proxy.url);
  // On a busy machine, it may take longer than a request waits.
  await eventually("the database returns within 2 s", 120_000, async () => {
    await database.pool.query("select 1");
    proxy.interrupt("reset");
    await eventually("the pool has noticed", 30_000, () => database.pool.totalCount === 0);
    const began = performance.now();
    const response = requestQuery(t, database, "select 1");
    // The pool itself fails at once.
    await assert.rejects(database.pool.query("select 1"), isDatabaseUnavailable);
    proxy.restore();
    const { status } = await response;
    if (performance.now() - began >= 2_000) return false;
    assert.equal(status, 200);
    return true;
  });
});

test("at most 200 callers wait for an unavailable database; the others fail at once", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const proxy = await startNetworkFaultProxy(cleanUp, (await cloneDatabase(cleanUp)).serviceUrl);
  const { query, pool } = await connected(cleanUp, proxy.url, 5_000, 10);
  const callAll = async () => {
    const counts = { succeeded: 0, failed: 0 };
    const call = async (): Promise<void> => {
      try {
        await sql`select 1`.execute(query);
        counts.succeeded += 1;
      } catch (error) {
        assert.ok(isDatabaseUnavailable(error), String(error));
        counts.failed += 1;
      }
    };
    proxy.interrupt("reset");
    await eventually("the pool has noticed", 30_000, () => pool.totalCount === 0);
    // The first caller finds out that the database is unavailable; the others don't try to connect, so they wait or fail immediately.
    const first = call();
    await assert.rejects(pool.query("select 1"), isDatabaseUnavailable);
    const others = Array.from({ length: 229 }, call);
    await eventually("30 have failed", 30_000, () => counts.failed >= 30);
    const atInterruption = { ...counts };
    proxy.restore();
    await Promise.all([first, ...others]);
    return { atInterruption, counts };
  };
  // On a busy machine, it may take longer than callers wait.
  await eventually("they are called and served within 2 s", 120_000, async () => {
    const began = performance.now();
    const { atInterruption, counts } = await callAll();
    if (performance.now() - began >= 2_000) return false;
    assert.deepEqual(atInterruption, { succeeded: 0, failed: 30 });
    assert.deepEqual(counts, { succeeded: 200, failed: 30 });
    return true;
  });
});

test("a statement whose connection breaks fails, and is not repeated", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { ownerUrl } = await cloneDatabase(cleanUp);
  await withClient(ownerUrl, (client) => client.query("create sequence executions"));
  const countExecutions = async (): Promise<number> => {
    const { rows } = await withClient(ownerUrl, (client) =>
      client.query<{ executions: number }>(
        "select case when is_called then last_value::int else 0 end as executions from executions",
      ),
    );
    return rows[0]?.executions ?? 0;
  };
  const proxy = await startNetworkFaultProxy(cleanUp, ownerUrl);
  const { query } = await connected(cleanUp, proxy.url, 60_000);
  const executed = assert.rejects(
    sql`select nextval('executions'), pg_sleep(60)`.execute(query),
    isDatabaseUnavailable,
  );
  await eventually("the statement is being executed", 30_000, async () => (await countExecutions()) === 1);
  proxy.interrupt("reset");
  proxy.restore();
  await executed;
  await sql`select 1`.execute(query);
  assert.equal(await countExecutions(), 1);
});

test("fails at once when the database refuses the login", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const url = new URL((await cloneDatabase(cleanUp)).serviceUrl);
  url.username = "nobody";
  const { query } = await connected(cleanUp, url.href);
  await assertPrompt(1_900, () =>
    assert.rejects(sql`select 1`.execute(query), (error) => !isDatabaseUnavailable(error)),
  );
});

test("a connection that meets a read-only database is replaced, in a transaction too", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { ownerUrl } = await cloneDatabase(cleanUp);
  const name = new URL(ownerUrl).pathname.slice(1);
  const alter = (setting: string): Promise<unknown> =>
    withClient(`${ownerUrl}?options=-c default_transaction_read_only=off`, (client) =>
      client.query(`alter database ${name} ${setting}`),
    );
  await withClient(ownerUrl, (client) => client.query("create table things ()"));
  const insert = sql`insert into things default values`;
  for (const write of [
    (query: Database<unknown>["query"]) => insert.execute(query),
    (query: Database<unknown>["query"]) => query.transaction().execute((transaction) => insert.execute(transaction)),
  ]) {
    // It applies to connections that are opened now, and stays with them.
    await alter("set default_transaction_read_only = on");
    const database = await connected(cleanUp, ownerUrl, 5_000, 1);
    await assertUnavailable(await requestQuery(t, database, "insert into things default values"));
    await database.pool.query("select from things");
    await alter("reset default_transaction_read_only");
    await assert.rejects(write(database.query), { message: "cannot execute INSERT in a read-only transaction" });
    await write(database.query);
  }
});

test("returns 503 within seconds when the database server doesn't respond", async (t) => {
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
  await assertPrompt(5_000, async () => assertUnavailable(await requestQuery(t, database, "select 1")));
});

test("a half-open connection is closed after the first query that times out", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const proxy = await startNetworkFaultProxy(cleanUp, (await cloneDatabase(cleanUp)).serviceUrl);
  const database = await connected(cleanUp, proxy.url, 200, 1);
  const one = async (): Promise<unknown[]> => (await sql`select 1 as one`.execute(database.query)).rows;
  assert.deepEqual(await one(), [{ one: 1 }]);
  proxy.interrupt("drop");
  await assert.rejects(one(), isDatabaseUnavailable);
  proxy.restore();
  assert.deepEqual(await one(), [{ one: 1 }]);
});

test("returns 503 within seconds when the pool is exhausted", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const database = await connected(cleanUp, (await cloneDatabase(cleanUp)).serviceUrl, 60_000, 1);
  const busy = await database.pool.connect();
  cleanUp(async () => busy.release());
  await assertUnavailable(await requestQuery(t, database, "select 1"));
});

test("returns 500 for an invalid query", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const database = await connected(cleanUp, (await cloneDatabase(cleanUp)).serviceUrl);
  await assertProblem(await requestQuery(t, database, "select * from no_such_table"), 500, "internal-error");
});
