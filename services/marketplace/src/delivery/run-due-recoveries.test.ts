import assert from "node:assert/strict";
import { before, beforeEach, describe, test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { recoveries } from "../queue/queues.ts";
import { type DueRecoveryDeps, runDueRecoveries } from "./run-due-recoveries.ts";

const held = 150;

describe("due recoveries", () => {
  const cleanUp = cleanUpAfter();
  let ownerUrl: string;
  let ids: string[];
  let deps: DueRecoveryDeps;
  let logged: { recipientId?: string }[];
  let stopping: AbortController;
  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = cloned);
    ids = (await registerPractices(ownerUrl, { count: held, callbackUrl: "http://127.0.0.1:9" })).map(({ id }) => id);
    // A statement that waits for a lock fails after statementTimeoutMs, which must not end the wait of a test.
    const options = { poolSize: 10, statementTimeoutMs: 120_000 };
    const { database, queue, clock } = await connectAsService<DB>(cleanUp, cloned.serviceUrl, options);
    const write = (line: string): unknown => logged.push(JSON.parse(line) as { recipientId?: string });
    const logger = createLogger({ service: "test", level: "warn" }, { write });
    deps = { database, queue, clock, logger, stopped: new AbortController().signal };
  });
  beforeEach(async () => {
    logged = [];
    stopping = new AbortController();
    deps = { ...deps, stopped: stopping.signal };
    await rows("update recipients set status = 'held', held_since = now() where id = any ($1::uuid[])", ids);
    await rows("delete from pgboss.job");
  });
  const rows = async <T extends object>(sql: string, ...values: unknown[]): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(sql, values))).rows;
  const plan = async (due: string[]): Promise<unknown> =>
    deps.queue.boss().insert(
      recoveries,
      due.map((id) => ({ id, data: {} })),
    );
  // None has a waiting delivery, so each is active after its recovery step.
  const stillHeld = async (): Promise<number> =>
    (await rows("select from recipients where id = any ($1::uuid[]) and status = 'held'", ids)).length;

  test("are all run in one call; one that fails doesn't stop the others", async () => {
    const unknown = uuid();
    await plan([unknown, ...ids]);
    await runDueRecoveries(deps);
    assert.equal(await stillHeld(), 0);
    assert.deepEqual(
      logged.map(({ recipientId }) => recipientId),
      [unknown],
    );
    assert.deepEqual(await rows("select id from pgboss.job where name = $1", recoveries), [{ id: unknown }]);
  });

  test("don't wait for a recipient that another transaction has locked", async () => {
    await plan(ids);
    await withClient(ownerUrl, async (client) => {
      await client.query("begin");
      await client.query("select from recipients where id = $1 for update", [ids[0]]);
      const recovered = runDueRecoveries(deps);
      await eventually("all other recipients are recovered", 60_000, async () => (await stillHeld()) === 1);
      await client.query("commit");
      await recovered;
    });
    assert.equal(await stillHeld(), 0);
    assert.deepEqual(logged, []);
  });

  test("are left to other workers when the process stops, except those already fetched", async () => {
    await plan(ids);
    stopping.abort();
    await runDueRecoveries(deps);
    const left = await stillHeld();
    assert.ok(left > 0 && left < held, `${left} left`);
    assert.equal((await rows("select from pgboss.job where state = 'active'")).length, 0);
  });
});
