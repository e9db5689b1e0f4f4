import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { sql } from "kysely";
import { connectDatabase } from "../database/connect.ts";
import { DatabaseUnavailableError } from "../database/database-unavailable.ts";
import type { Queue } from "../queue/queue.ts";
import { QueueVersionError } from "../queue/queue-version.ts";
import { createLogger } from "../telemetry/logger.ts";
import { startTracing } from "../telemetry/tracing.ts";
import { createReadinessCheck } from "./readiness-check.ts";

async function createCheck(
  t: TestContext,
  { migrations = [] as string[], boss = (): unknown => undefined, url = "", servesWithoutDatabase = false } = {},
) {
  const cleanUp = cleanUpAfter(t);
  const serviceUrl = url === "" ? (await cloneDatabase(cleanUp, "empty")).serviceUrl : url;
  const migrationsDirectory = await mkdtemp(join(tmpdir(), "migrations-"));
  cleanUp(() => rm(migrationsDirectory, { recursive: true }));
  for (const name of migrations) await writeFile(join(migrationsDirectory, `${name}.sql`), "");
  const logged: Record<string, unknown>[] = [];
  const logger = createLogger({ service: "test", level: "info" }, { write: (line) => logged.push(JSON.parse(line)) });
  const tracing = await startTracing("test", undefined);
  const options = { url: serviceUrl, service: "test", poolSize: 1, statementTimeoutMs: 1_000, logger, tracing };
  const database = connectDatabase(options);
  cleanUp(() => database.pool.end());
  const queue = { boss } as Queue;
  const check = createReadinessCheck({ database, queue, migrationsDirectory, logger, servesWithoutDatabase });
  return { check, database, logged, messages: () => logged.map(({ msg }) => msg) };
}

test("reports that migrations are missing, and names them in the log only", async (t) => {
  const { check, logged, messages } = await createCheck(t, { migrations: ["9998-one", "9999-other"] });
  assert.equal(await check(), "migrations-missing");
  assert.deepEqual(messages(), ["the schema lacks migrations; reporting not ready"]);
  assert.deepEqual(logged[0]?.["missing"], ["9998-one", "9999-other"]);
});

class LoginError extends Error {
  readonly code: string;
  constructor(code: string) {
    super("login failed");
    this.code = code;
    this.name = `login error ${code}`;
  }
}

for (const [error, reason] of [
  [new DatabaseUnavailableError("not started"), "database-unavailable"],
  [new LoginError("28P01"), "database-login-refused"],
  [new LoginError("28000"), "database-login-refused"],
  [new DatabaseUnavailableError("not started", { cause: new QueueVersionError(42) }), "queue-version"],
  [new TypeError("unexpected"), "check-failed"],
] as const) {
  test(`reports "${reason}" after a ${((error.cause ?? error) as Error).name}, and logs it`, async (t) => {
    const boss = (): never => {
      throw error;
    };
    const { check, messages } = await createCheck(t, { boss });
    assert.equal(await check(), reason);
    assert.deepEqual(messages(), ["readiness check failed; reporting not ready"]);
  });
}

test("reports that the database refuses the login", async (t) => {
  const url = new URL((await cloneDatabase(cleanUpAfter(t), "empty")).serviceUrl);
  url.username = "nobody";
  const { check, messages } = await createCheck(t, { url: url.href });
  assert.equal(await check(), "database-login-refused");
  assert.deepEqual(messages(), ["readiness check failed; reporting not ready"]);
});

test("reports an unavailable database at once, while requests still wait for it", async (t) => {
  const { check, database } = await createCheck(t, { url: "postgres://nobody@127.0.0.1:1/nothing" });
  const request = sql`select 1`.execute(database.query).then(
    () => "response",
    () => "failed",
  );
  assert.equal(await Promise.race([request, check()]), "database-unavailable");
  assert.equal(await request, "failed");
});

test("reports a read-only database, and is ready once the database can be written", async (t) => {
  const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUpAfter(t), "empty");
  const alter = (setting: string): Promise<unknown> =>
    withClient(`${ownerUrl}?options=-c default_transaction_read_only=off`, (client) =>
      client.query(`alter database ${new URL(ownerUrl).pathname.slice(1)} ${setting}`),
    );
  await alter("set default_transaction_read_only = on");
  const { check, logged } = await createCheck(t, { url: serviceUrl });
  assert.equal(await check(), "database-read-only");
  assert.equal((logged[0] as { err: Error } | undefined)?.err.message, "the database is read-only");
  await alter("reset default_transaction_read_only");
  assert.equal(await check(), undefined);
});

test("a service with pages that don't need the database stays ready without it, once it has been ready", async (t) => {
  let isDown = true;
  const boss = (): void => {
    if (isDown) throw new DatabaseUnavailableError("down");
  };
  const { check, messages } = await createCheck(t, { boss, servesWithoutDatabase: true });
  assert.equal(await check(), "database-unavailable", "it has never been ready");
  isDown = false;
  assert.equal(await check(), undefined);
  isDown = true;
  assert.equal(await check(), undefined);
  assert.equal(messages().at(-1), "the database is unavailable; staying ready for what doesn't need it");
});
