import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { registered } from "../endpoints/register.test-support.ts";
import { dropDeletedEndpointDeliveries } from "./drop-deleted-endpoint-deliveries.ts";
import { sweepDeliveries } from "./sweep.ts";

const backlog = 5_000;

describe("deliveries of a deleted endpoint", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let connected: ServiceConnection<DB>;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    connected = await connectAsService<DB>(cleanUp, marketplace.database.serviceUrl);
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
    const response = await marketplace.requestAs("northwind-developer", `/developer/webhooks/${id}`, {
      method: "DELETE",
    });
    assert.equal(response.status, 204, await response.text());
  };
  const left = async (id: string): Promise<number> =>
    (await rows("select from deliveries where recipient_id = $1 and status in ('waiting', 'queued')", id)).length;
  const recipient = (id: string) =>
    rows("select status, held_since, disabled_at, disabled_reason from recipients where id = $1", id);
  const drop = (batches?: { batchSize: number; maxBatches: number }): Promise<number> =>
    dropDeletedEndpointDeliveries(connected, new Date(), batches);
  const activeState = [{ status: "active", held_since: null, disabled_at: null, disabled_reason: null }];

  test("are never sent, and are dropped in batches outside the request", async () => {
    const [{ id }, other] = [await registered(marketplace), await registered(marketplace)];
    await due(id, backlog);
    await due(other.id, 2);
    await rows("update deliveries set created_at = now() where recipient_id = $1", other.id);
    await rows("update recipients set status = 'held', held_since = now() where id = $1", id);
    // Deliveries that are locked by a claim or a settlement are not waited for.
    await withClient(marketplace.database.ownerUrl, async (client) => {
      await client.query("begin");
      await client.query("select from deliveries where recipient_id = $1 order by id limit 3 for update", [id]);
      await remove(id);
      assert.equal(await left(id), backlog, "the request that deletes it drops none");
      const { database, queue } = connected;
      assert.equal(await sweepDeliveries(database, queue, new Date()), 0, "the sweep lets it be");

      assert.equal(await drop({ batchSize: 100, maxBatches: 20 }), 2_000);
      assert.equal(await drop(), backlog - 2_003);
      assert.equal(await left(id), 3);
      assert.notDeepEqual(await recipient(id), activeState);
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
    assert.deepEqual(await recipient(id), activeState);
    assert.equal(await left(other.id), 2);
    assert.equal(await drop(), 0);
  });

  test("are dropped when recorded during the deletion", async () => {
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
    assert.deepEqual(await recipient(id), activeState);
  });

  test("no longer count as disabled once dropped", async () => {
    const { id } = await registered(marketplace);
    await rows(
      "update recipients set status = 'disabled', held_since = now(), disabled_at = now(), disabled_reason = '410' where id = $1",
      id,
    );
    assert.equal(await drop(), 0);
    assert.notDeepEqual(await recipient(id), activeState);
    await remove(id);
    await drop();
    assert.deepEqual(await recipient(id), activeState);
  });
});
