import type { Queue } from "@ehr-marketplace/service-kit/queue";
import { type Kysely, type RawBuilder, sql, type Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";
import { deliveries, recoveries } from "../../queue/queues.ts";
import { insertJobs, scheduleRecovery } from "./delivery-jobs.ts";
import type { Backlog } from "./delivery-metrics.ts";
import { isUnsettled } from "./delivery-store.ts";
import { headsOf, outsideSequence } from "./queue-store.ts";
import { isWithoutCallback } from "./recipient-store.ts";
import { firstPace, maxQueuedPerRecipient } from "./retry-schedule.ts";

const maxFound = 1_000;
// Not by status, see 0008-delivery-indexes.sql.
const isDue = sql`settled_at is null`;
// With a limit: the planner may turn "not exists" into a join of all unsettled deliveries with all jobs.
const hasJob = (queue: string, id: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`(select true from pgboss.job j where j.name = ${queue} and j.id = ${id} limit 1)`;

// Steps from one recipient with unsettled deliveries to the next: a held or recovering recipient may have a million of them.
const activeRecipients = sql`
  with recursive owed as (
    (select recipient_id from deliveries where ${isDue} order by recipient_id limit 1)
    union all
    select (
      select recipient_id from deliveries where ${isDue} and recipient_id > owed.recipient_id
      order by recipient_id limit 1
    ) from owed where owed.recipient_id is not null
  ), looked_at as materialized (
    select recipient_id from owed
    where (select status from recipients where id = owed.recipient_id) = 'active'
      and ${hasJob(recoveries, sql`owed.recipient_id`)} is null
  )`;

/**
 * Repairs deliveries that would never be sent: queued without a job, or waiting although nothing precedes them. Locks and
 * transactions prevent these states; the sweep covers unknown bugs, and returns how many it found.
 */
export async function sweepDeliveries(database: Kysely<DB>, queue: Queue, now: Date): Promise<number> {
  const before = new Date(now.getTime() - 60_000);
  return database.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ id: string | null; recipient_id: string }>`
      ${activeRecipients}, without_job as materialized (
        select due.id from looked_at cross join lateral (
          (select id, created_at from ${headsOf(sql`looked_at.recipient_id`)} head)
          union all
          (select id, created_at from ${outsideSequence(sql`looked_at.recipient_id`, 2 * maxFound)} outside)
        ) due
        where due.created_at < ${before} and ${hasJob(deliveries, sql`due.id`)} is null
        limit ${maxFound}
      ), locked as materialized (
        select id from deliveries where id = any (array(select id from without_job)) and ${isUnsettled} order by id
        for update skip locked
      ), lost as (
        update deliveries set status = 'queued' where id = any (array(select id from locked))
        returning id, recipient_id
      ), crowd as (
        -- Recipients that respond too slowly for their events: further deliveries wait as rows and are queued as slots become free
        update recipients set crowded = true where id = any (array(
          select recipient_id from deliveries where status = 'queued' group by recipient_id having count(*) >= ${maxQueuedPerRecipient}
          intersect select recipient_id from looked_at
        ))
        returning id
      )
      select id, recipient_id from lost union all select null, id from crowd`.execute(transaction);
    const lost = rows.flatMap(({ id, recipient_id }) => (id === null ? [] : [{ id, recipient_id }]));
    await insertJobs(transaction, queue, lost);
    for (const { recipient_id } of rows.filter(({ id }) => id === null)) {
      await scheduleRecovery(transaction, queue, recipient_id, { pace: firstPace, startAfter: now });
    }
    const withoutProbe = await findHeldWithoutProbe(transaction);
    for (const id of withoutProbe) await scheduleRecovery(transaction, queue, id, { startAfter: now });
    return lost.length + withoutProbe.length;
  });
}

/** Held recipients with a callback and unsettled deliveries, but neither a probe in flight nor a recovery job. */
async function findHeldWithoutProbe(transaction: Transaction<DB>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select r.id from recipients r
      cross join lateral (select from deliveries where recipient_id = r.id and ${isDue} limit 1) due
    where r.status = 'held'
      and not ${isWithoutCallback(sql`r.id`)}
      and ${hasJob(recoveries, sql`r.id`)} is null
      and ${hasJob(deliveries, sql`r.probed_id`)} is null
    limit ${maxFound} for update of r skip locked`.execute(transaction);
  return rows.map(({ id }) => id);
}

/** Reads all unsettled deliveries; the caller caches the result. */
export async function readBacklog(database: Kysely<DB>): Promise<Backlog> {
  const { rows } = await sql<Backlog>`
    select waiting.count::float8 as waiting, queued.count::float8 as queued,
      extract(epoch from coalesce(now() - least(waiting.oldest_at, queued.oldest_at), interval '0'))::float8
        as "oldestSeconds",
      (select count(*) from recipients r where status = 'held' and not ${isWithoutCallback(sql`r.id`)})::float8 as held,
      (select count(*) from recipients where status = 'disabled')::float8 as disabled
    from (select count(*), min(created_at) as oldest_at from deliveries where status = 'waiting') waiting,
      (select count(*), min(created_at) as oldest_at from deliveries where status = 'queued') queued`.execute(database);
  const [backlog] = rows;
  if (backlog === undefined) throw new Error("the count returned no row");
  return backlog;
}
