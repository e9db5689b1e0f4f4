import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { deliveries, recoveries } from "../queue/queues.ts";
import { insertJobs } from "./delivery-jobs.ts";
import { insertDeliveries, type NewDelivery } from "./delivery-store.ts";
import { recoverRecipient } from "./recover-recipient.ts";
import { maxQueuedPerRecipient } from "./retry-schedule.ts";
import { sweepDeliveries } from "./sweep.ts";

describe("a recipient that responds more slowly than events arrive", () => {
  const cleanUp = cleanUpAfter();
  let ownerUrl: string;
  let connected: Awaited<ReturnType<typeof connectAsService<DB>>>;
  let recipient: string;
  let subscriptions: string[];
  const rows = async <T extends object>(sql: string, values: unknown[] = []): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(sql, values))).rows;
  const count = async (): Promise<Record<string, number>> => {
    const counted = await rows<{ status: string; count: number }>(
      "select status, count(*)::int from deliveries where recipient_id = $1 group by status",
      [recipient],
    );
    const [{ jobs } = { jobs: 0 }] = await rows<{ jobs: number }>(
      "select count(*)::int as jobs from pgboss.job where name = $1 and group_id = $2",
      [deliveries, recipient],
    );
    return { ...Object.fromEntries(counted.map(({ status, count: many }) => [status, many])), jobs };
  };
  const isCrowded = async (): Promise<boolean | undefined> =>
    (await rows<{ crowded: boolean }>("select crowded from recipients where id = $1", [recipient]))[0]?.crowded;
  /** Records this many events, each with its own ordering key. */
  const record = async (many: number): Promise<void> => {
    const events = await rows<{ id: string }>(
      `insert into events (id, event, occurred_at, payload)
       select mint_uuid(), 'subscription.created', now(), '{}' from generate_series(1, $1) returning id`,
      [many],
    );
    const { database, queue } = connected;
    await database.transaction().execute(async (transaction) => {
      const made: NewDelivery[] = [];
      for (const { id } of events) {
        const event = {
          eventId: id,
          event: "subscription.created",
          organisationId: recipient,
          vendorId: "00000000-0000-7000-8000-000000000000",
          subscriptionId: subscriptions.pop() ?? "",
          sequence: 1,
          at: new Date(),
        };
        made.push(...(await insertDeliveries(transaction, event)));
      }
      await insertJobs(
        transaction,
        queue,
        made.filter(({ status }) => status === "queued"),
      );
    });
  };
  /** Marks this many as delivered and deletes their jobs. */
  const deliver = (many: number): Promise<unknown> =>
    rows(
      `with done as (
         update deliveries set status = 'delivered', settled_at = now() where id in (
           select id from deliveries where recipient_id = $1 and status = 'queued' order by created_at limit $2
         ) returning id
       ) delete from pgboss.job where name = $3 and id in (select id from done)`,
      [recipient, many, deliveries],
    );
  const step = async (pace: number): Promise<void> => {
    await rows("update pgboss.job set start_after = now() where name = $1", [recoveries]);
    const [job] = await connected.queue.boss().fetch(recoveries);
    assert.equal(job?.id, recipient);
    await recoverRecipient(connected, { id: recipient, retryCount: 0 }, pace);
  };
  const recoveriesPlanned = async (): Promise<number> =>
    (await rows("select from pgboss.job where name = $1", [recoveries])).length;

  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = cloned);
    connected = await connectAsService<DB>(cleanUp, cloned.serviceUrl);
    const [practice] = await registerPractices(ownerUrl, { count: 1, callbackUrl: "http://127.0.0.1:9" });
    recipient = practice?.id ?? "";
    // Each has its own ordering key; cancelled ones, because a practice can have only one active subscription per app.
    const made = await rows<{ id: string }>(
      `insert into subscriptions
         (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, cancelled_at, revision)
       select mint_uuid(), $1, offer.app_id, offer.id, 'cancelled', now(), now(), now(), 1
       from (select id, app_id from pricing_plans limit 1) offer, generate_series(1, $2) returning id`,
      [recipient, maxQueuedPerRecipient + 20],
    );
    subscriptions = made.map(({ id }) => id);
  });

  test("has a limited number of jobs; further deliveries wait as rows and are queued as slots become free", async () => {
    const { database, queue } = connected;
    await record(maxQueuedPerRecipient - 1);
    assert.equal(await sweepDeliveries(database, queue, new Date()), 0);
    assert.equal(await isCrowded(), false);
    await record(1);
    assert.equal(await sweepDeliveries(database, queue, new Date()), 0, "nothing was lost");
    assert.equal(await isCrowded(), true);
    await record(15);
    assert.deepEqual(await count(), { queued: maxQueuedPerRecipient, waiting: 15, jobs: maxQueuedPerRecipient });

    await step(10);
    assert.deepEqual(
      await count(),
      { queued: maxQueuedPerRecipient, waiting: 15, jobs: maxQueuedPerRecipient },
      "no room",
    );
    await deliver(4);
    await step(10);
    assert.deepEqual(await count(), {
      delivered: 4,
      queued: maxQueuedPerRecipient,
      waiting: 11,
      jobs: maxQueuedPerRecipient,
    });
    assert.equal(await isCrowded(), true);
    await deliver(500);
    await step(320);
    assert.deepEqual(await count(), {
      delivered: 504,
      queued: maxQueuedPerRecipient - 489,
      jobs: maxQueuedPerRecipient - 489,
    });
    assert.equal(await isCrowded(), false);
    assert.equal(await recoveriesPlanned(), 0);
    await record(1);
    assert.deepEqual(await count(), {
      delivered: 504,
      queued: maxQueuedPerRecipient - 488,
      jobs: maxQueuedPerRecipient - 488,
    });
  });
});
