import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { expireDeliveries } from "./expire-deliveries.ts";
import { redeliverById } from "./redeliver.ts";

const dayMs = 86_400_000;
const daysAgo = (days: number): Date => new Date(Date.now() - days * dayMs);
const inDays = (days: number): Date => daysAgo(-days);

describe("a delivery that is due to a disabled endpoint", () => {
  const cleanUp = cleanUpAfter();
  let ownerUrl: string;
  let connected: ServiceConnection<DB>;
  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = cloned);
    connected = await connectAsService<DB>(cleanUp, cloned.serviceUrl);
  });
  const rows = async <T extends object>(sql: string, ...values: unknown[]): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(sql, values))).rows;
  const disable = (id: string, at: Date): Promise<unknown> =>
    rows(
      "update recipients set status = 'disabled', held_since = $2, disabled_at = $2, disabled_reason = '410' where id = $1",
      id,
      at,
    );
  /** Creates an endpoint with this many deliveries. */
  const endpoint = async (count: number, status: string, at: Date): Promise<string> => {
    const id = uuid();
    await rows(
      `insert into webhook_endpoints (id, vendor_id, url, events, encrypted_secret, created_at, updated_at)
       select $1, id, 'https://a.example', '{ping}', '1.unread', now(), now() from vendors limit 1`,
      id,
    );
    await rows(
      `with told as (
         insert into events (id, event, occurred_at, payload)
         select mint_uuid(), 'ping', $4, '{}' from generate_series(1, $2::integer) returning id
       )
       insert into deliveries (id, event_id, recipient_id, status, created_at, settled_at)
       select mint_uuid(), id, $1, $3, $4, case when $3 <> 'waiting' then $4 end from told`,
      id,
      count,
      status,
      at,
    );
    return id;
  };
  const statuses = async (id: string): Promise<Record<string, number>> => {
    const counted = await rows<{ status: string; count: number }>(
      "select status, count(*)::int from deliveries where recipient_id = $1 group by status",
      id,
    );
    return Object.fromEntries(counted.map(({ status, count }) => [status, count]));
  };
  const expire = (now: Date, batches?: { batchSize: number; maxBatches: number }): Promise<number> =>
    expireDeliveries(connected.database, now, batches);

  test("expires 30 days after the endpoint was disabled, however old the event is", async () => {
    const id = await endpoint(2, "waiting", daysAgo(34));
    await disable(id, daysAgo(29));
    assert.equal(await expire(new Date()), 0);
    assert.equal(await expire(inDays(2)), 2);
    assert.deepEqual(await statuses(id), { expired: 2 });
  });

  test("expires 30 days after the event, when that was later", async () => {
    const id = await endpoint(2, "waiting", daysAgo(29));
    await disable(id, daysAgo(40));
    assert.equal(await expire(new Date()), 0);
    assert.equal(await expire(inDays(2)), 2);
  });

  test("expires 30 days after its redelivery, when there was one", async () => {
    const id = await endpoint(1, "delivered", daysAgo(45));
    await disable(id, daysAgo(40));
    const [told] = await rows<{ id: string }>("select id from deliveries where recipient_id = $1", id);
    const { database, queue } = connected;
    await database.transaction().execute((transaction) => redeliverById(transaction, queue, told?.id ?? ""));
    assert.deepEqual(await statuses(id), { waiting: 1 });
    assert.equal(await expire(inDays(29)), 0);
    assert.equal(await expire(inDays(31)), 1);
  });

  test("expires in batches, up to a limit per run", async () => {
    const ids = [await endpoint(250, "waiting", daysAgo(50)), await endpoint(250, "waiting", daysAgo(50))];
    const fine = await endpoint(1, "waiting", daysAgo(50));
    for (const id of ids) await disable(id, daysAgo(31));
    assert.equal(await expire(new Date(), { batchSize: 100, maxBatches: 3 }), 300);
    assert.equal(await expire(new Date(), { batchSize: 100, maxBatches: 3 }), 200);
    for (const id of ids) assert.deepEqual(await statuses(id), { expired: 250 });
    assert.deepEqual(await statuses(fine), { waiting: 1 });
  });

  test("does not expire while the endpoint is being enabled", async () => {
    const id = await endpoint(3, "waiting", daysAgo(50));
    await disable(id, daysAgo(31));
    await withClient(ownerUrl, async (client) => {
      await client.query("begin");
      await client.query("select from recipients where id = $1 for update", [id]);
      assert.equal(await expire(new Date()), 0);
      await client.query("rollback");
    });
    assert.equal(await expire(new Date()), 3);
  });
});
