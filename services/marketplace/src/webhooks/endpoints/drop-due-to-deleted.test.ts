import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { withClient } from "@ehr-marketplace/dev/postgres";
import {
  type Connected,
  cleanUpAfter,
  connectTo,
  type PeopledMarketplace,
  startPeopledMarketplace,
} from "@ehr-marketplace/tests/support";
import type { DB } from "../../database-schema.ts";
import { sweepDeliveries } from "../delivery/sweep.ts";
import { dropDueToDeleted } from "./drop-due-to-deleted.ts";
import { registered } from "./register.test-support.ts";

const backlog = 5_000;

describe("what is due to an endpoint that is deleted", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: PeopledMarketplace;
  let connected: Connected<DB>;
  before(async () => {
    marketplace = await startPeopledMarketplace(cleanUp);
    connected = await connectTo<DB>(cleanUp, marketplace.database.serviceUrl);
  });
  const rows = async <T extends object>(sql: string, ...values: unknown[]): Promise<T[]> =>
    (await withClient(marketplace.database.ownerUrl, (client) => client.query<T>(sql, values))).rows;
  const due = (id: string, count: number): Promise<unknown> =>
    rows(
      `with told as (
         insert into events (id, event, occurred_at, payload)
         select mint_uuid(), 'ping', now(), '{}' from generate_series(1, $2::integer) returning id
       )
       insert into deliveries (id, event_id, recipient_id, status, next_attempt_at, created_at)
       select mint_uuid(), id, $1, case when random() < 0.5 then 'queued' else 'waiting' end, now(), now() - interval '1 hour'
       from told`,
      id,
      count,
    );
  const remove = async (id: string): Promise<void> => {
    const answer = await marketplace.as("northwind-developer", `/developer/webhooks/${id}`, { method: "DELETE" });
    assert.equal(answer.status, 204, await answer.text());
  };
  const left = async (id: string): Promise<number> =>
    (await rows("select from deliveries where recipient_id = $1 and status in ('waiting', 'queued')", id)).length;
  const recipient = (id: string) =>
    rows("select status, held_since, disabled_at, disabled_because from recipients where id = $1", id);
  const drop = (batches?: { rows: number; most: number }): Promise<number> =>
    dropDueToDeleted(connected.database, new Date(), batches);
  const untroubled = [{ status: "active", held_since: null, disabled_at: null, disabled_because: null }];

  test("is none of the caller's waiting, is never sent, and is dropped in batches", async () => {
    const [{ id }, other] = [await registered(marketplace), await registered(marketplace)];
    await due(id, backlog);
    await due(other.id, 2);
    await rows("update deliveries set created_at = now() where recipient_id = $1", other.id);
    await rows("update recipients set status = 'held', held_since = now() where id = $1", id);
    // Whoever sends or settles some of it at this moment is not waited for either.
    await withClient(marketplace.database.ownerUrl, async (client) => {
      await client.query("begin");
      await client.query("select from deliveries where recipient_id = $1 order by id limit 3 for update", [id]);
      await remove(id);
      assert.equal(await left(id), backlog, "not by whoever deletes it");
      const { database, queue } = connected;
      assert.equal(await sweepDeliveries(database, queue, new Date()), 0, "the sweep lets it be");

      assert.equal(await drop({ rows: 100, most: 20 }), 2_000);
      assert.equal(await drop(), backlog - 2_003);
      assert.equal(await left(id), 3);
      assert.notDeepEqual(await recipient(id), untroubled);
      await client.query("commit");
    });
    assert.equal(await drop(), 3);
    assert.deepEqual(
      await rows(
        "select status, settled_at is not null as settled, next_attempt_at, count(*)::int from deliveries where recipient_id = $1 group by 1, 2, 3",
        id,
      ),
      [{ status: "dropped", settled: true, next_attempt_at: null, count: backlog }],
    );
    assert.deepEqual(await recipient(id), untroubled);
    assert.equal(await left(other.id), 2);
    assert.equal(await drop(), 0);
  });

  test("is dropped too where it was recorded at the very moment", async () => {
    const { id } = await registered(marketplace);
    await remove(id);
    await withClient(marketplace.database.ownerUrl, async (client) => {
      await client.query("begin");
      await client.query("select from recipients where id = $1 for share", [id]);
      const dropping = drop();
      await due(id, 1);
      await client.query("commit");
      await dropping;
    });
    await drop();
    assert.equal(await left(id), 0);
    assert.deepEqual(await recipient(id), untroubled);
  });

  test("leaves no trace among the disabled, where it was one of them", async () => {
    const { id } = await registered(marketplace);
    await rows(
      "update recipients set status = 'disabled', held_since = now(), disabled_at = now(), disabled_because = '410' where id = $1",
      id,
    );
    assert.equal(await drop(), 0);
    assert.notDeepEqual(await recipient(id), untroubled);
    await remove(id);
    await drop();
    assert.deepEqual(await recipient(id), untroubled);
  });
});
