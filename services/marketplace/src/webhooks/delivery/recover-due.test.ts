import assert from "node:assert/strict";
import { before, beforeEach, describe, test } from "node:test";
import { withClient } from "@ehr-marketplace/dev/postgres";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { cleanUpAfter, cloneDatabase, connectTo, eventually, registerPractices } from "@ehr-marketplace/tests/support";
import { v7 as uuid } from "uuid";
import type { DB } from "../../database-schema.ts";
import { recoveries } from "../../queue/queues.ts";
import { type RecoveringDue, recoverDue } from "./recover-due.ts";

const held = 150;

describe("recipients whose recovery is due", () => {
  const cleanUp = cleanUpAfter();
  let ownerUrl: string;
  let ids: string[];
  let recovering: RecoveringDue;
  let logged: { recipientId?: string }[];
  let stopping: AbortController;
  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = cloned);
    ids = (await registerPractices(ownerUrl, { count: held, callbackUrl: "http://127.0.0.1:9" })).map(({ id }) => id);
    const { database, queue, clock } = await connectTo<DB>(cleanUp, cloned.serviceUrl, { poolSize: 10 });
    const write = (line: string): unknown => logged.push(JSON.parse(line) as { recipientId?: string });
    const logger = createLogger({ service: "test", level: "warn" }, { write });
    recovering = { database, queue, clock, logger, stopped: new AbortController().signal };
  });
  beforeEach(async () => {
    logged = [];
    stopping = new AbortController();
    recovering = { ...recovering, stopped: stopping.signal };
    await rows("update recipients set status = 'held', held_since = now() where id = any ($1::uuid[])", ids);
    await rows("delete from pgboss.job");
  });
  const rows = async <T extends object>(sql: string, ...values: unknown[]): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(sql, values))).rows;
  const plan = async (due: string[]): Promise<unknown> =>
    recovering.queue.boss().insert(
      recoveries,
      due.map((id) => ({ id, data: {} })),
    );
  // Nothing waits for any of them: whoever has been looked after is active again.
  const stillHeld = async (): Promise<number> =>
    (await rows("select from recipients where id = any ($1::uuid[]) and status = 'held'", ids)).length;

  test("are all looked after in one go, however many they are; one that can't be keeps none from it", async () => {
    const unknown = uuid();
    await plan([unknown, ...ids]);
    await recoverDue(recovering);
    assert.equal(await stillHeld(), 0);
    assert.deepEqual(
      logged.map(({ recipientId }) => recipientId),
      [unknown],
    );
    assert.deepEqual(await rows("select id from pgboss.job where name = $1", recoveries), [{ id: unknown }]);
  });

  test("don't wait for one that somebody else has in hand", async () => {
    await plan(ids);
    await withClient(ownerUrl, async (client) => {
      await client.query("begin");
      await client.query("select from recipients where id = $1 for update", [ids[0]]);
      const recovered = recoverDue(recovering);
      await eventually("all others are looked after", 8_000, async () => (await stillHeld()) === 1);
      await client.query("commit");
      await recovered;
    });
    assert.equal(await stillHeld(), 0);
    assert.deepEqual(logged, []);
  });

  test("are left to others when the process stops, except those that it has in hand", async () => {
    await plan(ids);
    stopping.abort();
    await recoverDue(recovering);
    const left = await stillHeld();
    assert.ok(left > 0 && left < held, `${left} left`);
    assert.equal((await rows("select from pgboss.job where state = 'active'")).length, 0);
  });
});
