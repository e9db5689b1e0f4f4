import assert from "node:assert/strict";
import { before, beforeEach, describe, test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import { sql, type Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { recordPing } from "../events/record-event.ts";
import { deliveries, recoveries } from "../queue/queues.ts";
import { scheduleRecovery } from "../recipients/recovery-jobs.ts";
import { createDeliveries } from "./create-deliveries.ts";
import { recoverRecipient } from "./recover-recipient.ts";
import { redeliver } from "./redeliver.ts";
import { sweepDeliveries } from "./sweep.ts";

describe("a delivery that is recorded while the recovery of its recipient ends", () => {
  const cleanUp = cleanUpAfter();
  let ownerUrl: string;
  let connected: Awaited<ReturnType<typeof connectAsService<DB>>>;
  let practices: { id: string }[];
  let recipient: string;
  let subscription: { id: string; vendor_id: string };
  const rows = async <T extends object>(text: string, ...values: unknown[]): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(text, values))).rows;

  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = cloned);
    connected = await connectAsService<DB>(cleanUp, cloned.serviceUrl);
    practices = await registerPractices(ownerUrl, { count: 20, callbackUrl: "http://127.0.0.1:9" });
  });

  /** A practice with one subscription and a settled delivery of its first event. */
  beforeEach(async () => {
    recipient = practices.pop()?.id ?? "";
    await rows("delete from pgboss.job where name = any ($1)", [deliveries, recoveries]);
    await rows("update deliveries set status = 'expired', settled_at = now() where settled_at is null");
    const [made] = await rows<typeof subscription>(
      `with made as (
         insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, revision)
         select mint_uuid(), $1, app_id, plan.id, 'active', now(), now(), 1
         from pricing_plans plan join apps on apps.id = app_id where slug = 'northwind-scribe' limit 1 returning id, app_id
       ), happened as (
         insert into events (id, event, subscription_id, sequence, occurred_at, payload)
         select mint_uuid(), 'subscription.created', id, 1, now(), '{}' from made returning id, subscription_id
       ), delivered as (
         insert into deliveries (id, event_id, recipient_id, subscription_id, sequence, status, created_at, settled_at)
         select mint_uuid(), id, $1, subscription_id, 1, 'delivered', now(), now() from happened
       )
       select made.id, vendor_id from made join apps on apps.id = app_id`,
      recipient,
    );
    assert.ok(made !== undefined);
    subscription = made;
  });

  const statesBefore = {
    held: "update recipients set status = 'held', held_since = now(), consecutive_failures = 5 where id = $1",
    crowded: "update recipients set crowded = true where id = $1",
  };

  const lockSubscription = (transaction: Transaction<DB>) =>
    transaction.selectFrom("subscriptions").select("id").where("id", "=", subscription.id).forUpdate().execute();
  const recordings: Record<string, (transaction: Transaction<DB>) => Promise<unknown>> = {
    async event(transaction) {
      await lockSubscription(transaction);
      const eventId = uuid();
      const columns = { subscription_id: subscription.id, sequence: 2, occurred_at: new Date(), payload: "{}" };
      await transaction
        .insertInto("events")
        .values({ id: eventId, event: "subscription.paused", ...columns })
        .execute();
      await createDeliveries(transaction, connected.queue, {
        eventId,
        event: "subscription.paused",
        organisationId: recipient,
        vendorId: subscription.vendor_id,
        subscriptionId: subscription.id,
        sequence: 2,
        at: new Date(),
      });
    },
    ping: (transaction) =>
      recordPing(transaction, connected.queue, { id: recipient, vendor_id: subscription.vendor_id }, new Date()),
    async redelivery(transaction) {
      const settled = await transaction
        .selectFrom("deliveries")
        .select(["id", "subscription_id", "created_at"])
        .where("recipient_id", "=", recipient)
        .execute();
      assert.equal(await redeliver(transaction, connected.queue, recipient, { settled }), 1);
    },
  };

  /** Runs a step of the recovery, which finds nothing that waits unless it waits for the open transactions. */
  const recover = async (): Promise<void> => {
    const { database, queue } = connected;
    await database
      .transaction()
      .execute((transaction) => scheduleRecovery(transaction, queue, recipient, { startAfter: new Date() }));
    const [job] = await queue.boss().fetch(recoveries);
    assert.equal(job?.id, recipient);
    await recoverRecipient(connected, { id: recipient, retryCount: 0 });
  };
  const isWaitingFor = async (locktype: "advisory" | "relation"): Promise<boolean> =>
    (
      await rows(
        `select from pg_locks join pg_database d on d.oid = database
         where locktype = $1 and not granted and datname = current_database()`,
        locktype,
      )
    ).length > 0;
  const assertQueuedOrRecovering = async (): Promise<void> => {
    const due = await rows<{ status: string; job: string | null }>(
      `select status, job.name as job from deliveries d left join pgboss.job on job.name = $2 and job.id = d.id
       where recipient_id = $1 and settled_at is null`,
      recipient,
      deliveries,
    );
    const recovering = await rows("select from pgboss.job where name = $1 and id = $2", recoveries, recipient);
    const expected = recovering.length > 0 ? { status: "waiting", job: null } : { status: "queued", job: deliveries };
    assert.deepEqual(due, [expected]);
    const { database, queue } = connected;
    assert.equal(await sweepDeliveries(database, queue, new Date(Date.now() + 120_000)), 0, "the sweep finds nothing");
  };

  for (const [state, becomes] of Object.entries(statesBefore)) {
    // Pings and redeliveries to a crowded recipient are queued in any case.
    for (const [name, record] of Object.entries(recordings).slice(0, state === "held" ? undefined : 1)) {
      test(`${name}, ${state} recipient: the recovery waits for the commit and finds it`, async () => {
        await rows(becomes, recipient);
        const recorded = Promise.withResolvers<void>();
        const commit = Promise.withResolvers<void>();
        const writing = connected.database.transaction().execute(async (transaction) => {
          await record(transaction);
          recorded.resolve();
          await commit.promise;
        });
        await recorded.promise;
        const recovering = recover();
        await eventually("the recovery waits", 30_000, () => isWaitingFor("advisory"));
        commit.resolve();
        await Promise.all([writing, recovering]);
        await assertQueuedOrRecovering();
      });

      test(`${name}, ${state} recipient: the recovery ends first, and the recording queues it`, async () => {
        await rows(becomes, recipient);
        await withClient(ownerUrl, async (client) => {
          // Keeps the recovery from updating the recipient after it has found nothing that waits.
          await client.query("begin; lock table recipients in share mode");
          const recovering = recover();
          await eventually("the recovery is about to end", 30_000, () => isWaitingFor("relation"));
          const writing = connected.database.transaction().execute(record);
          await eventually("the recording waits", 30_000, () => isWaitingFor("advisory"));
          await client.query("commit");
          await Promise.all([writing, recovering]);
        });
        await assertQueuedOrRecovering();
      });
    }
  }

  test("an event that waits for the recovery of its origin doesn't make the recovery of its recipient wait", async () => {
    await rows(statesBefore.held, recipient);
    const [origin] = await rows<{ id: string }>(
      "insert into callback_origins (origin) values ('http://127.0.0.1:9') returning id",
    );
    const lockOf = (id = "") => `hashtextextended('recovery of ${id}', 0)`;
    await withClient(ownerUrl, async (client) => {
      await client.query("begin");
      await client.query(`select pg_advisory_xact_lock(${lockOf(origin?.id)})`);
      const writing = connected.database
        .transaction()
        .execute(async (transaction) => recordings["event"]?.(transaction));
      await eventually("the event waits", 30_000, () => isWaitingFor("advisory"));
      // The recovery of an origin locks its recipients, whose recoveries take this lock: an event that had it would close a circle.
      const free = await client.query<{ taken: boolean }>(
        `select pg_try_advisory_xact_lock(${lockOf(recipient)}) as taken`,
      );
      assert.deepEqual(free.rows, [{ taken: true }]);
      await client.query("rollback");
      await writing;
    });
    await rows("delete from callback_origins");
  });

  test("an event locks no row of its recipients or of the queue", async () => {
    const endpointId = uuid();
    await rows(
      `insert into webhook_endpoints (id, vendor_id, url, events, encrypted_secret, created_at, updated_at)
       values ($1, $2, 'http://127.0.0.1:9', '{subscription.paused}', '1.unread', now(), now())`,
      endpointId,
      subscription.vendor_id,
    );
    const addressed = [recipient, endpointId];
    await connected.database.transaction().execute(async (transaction) => {
      await recordings["event"]?.(transaction);
      const locked = await rows("select from recipients where id = any ($1) for update nowait", addressed);
      assert.equal(locked.length, 2);
      // The foreign keys of jobs are checked at the commit, or here.
      await sql`set constraints all immediate`.execute(transaction);
      await rows("select from pgboss.queue for update nowait");
    });
    const recorded = await rows("select from deliveries where recipient_id = any ($1) and sequence = 2", addressed);
    assert.equal(recorded.length, 2);
  });
});
