import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { deliveries, hasJob, recoveries } from "../queue/queues.ts";
import { isUnsettled } from "./delivery-store.ts";
import { headsOf, isRedelivery, outsideSequence, type QueuedDelivery } from "./queue-store.ts";
import { maxQueuedPerRecipient } from "./retry-schedule.ts";

// Not by status, see 0008-delivery-indexes.sql.
const isDue = sql`settled_at is null`;

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
    where (
      select s.status = 'active' and not s.origin_held and ${hasJob(recoveries, sql`s.origin_id`)} is null
      from recipient_states s where s.id = owed.recipient_id
    ) and ${hasJob(recoveries, sql`owed.recipient_id`)} is null
  )`;

/** Queues deliveries that should have a job and have none: the first of each ordering key, and those without one. */
export async function queueLost(transaction: Transaction<DB>, before: Date, limit: number): Promise<QueuedDelivery[]> {
  const { rows } = await sql<QueuedDelivery>`
    ${activeRecipients}, without_job as materialized (
      select due.id from looked_at cross join lateral (
        (select id, created_at from ${headsOf(sql`looked_at.recipient_id`)} head)
        union all
        (select id, created_at from ${outsideSequence(sql`looked_at.recipient_id`, 2 * limit)} outside)
      ) due
      where due.created_at < ${before} and ${hasJob(deliveries, sql`due.id`)} is null
      limit ${limit}
    ), locked as materialized (
      select id from deliveries where id = any (array(select id from without_job)) and ${isUnsettled} order by id
      for update skip locked
    )
    update deliveries set status = 'queued' where id = any (array(select id from locked))
    returning id, recipient_id, ${isRedelivery} as "isRedelivery"`.execute(transaction);
  return rows;
}

/** Active recipients with as many queued deliveries as are allowed: they respond too slowly for their events. */
export async function findCrowded(transaction: Transaction<DB>): Promise<string[]> {
  const { rows } = await sql<{ recipient_id: string }>`
    select recipient_id from (
      select recipient_id from deliveries where status = 'queued' group by recipient_id
      having count(*) >= ${maxQueuedPerRecipient}
    ) crowded
    where (select status from recipients where id = crowded.recipient_id) = 'active'
      and ${hasJob(recoveries, sql`crowded.recipient_id`)} is null`.execute(transaction);
  return rows.map((row) => row.recipient_id);
}

/** The same for the endpoints of one vendor. */
export async function findCrowdedOfVendor(transaction: Transaction<DB>, vendorId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select r.id from webhook_endpoints e join recipients r on r.id = e.id
    where e.vendor_id = ${vendorId} and e.deleted_at is null and r.status = 'active' and not r.crowded
      and ${hasJob(recoveries, sql`r.id`)} is null
      and (
        select count(*) from (
          select from deliveries d where d.recipient_id = r.id and d.status = 'queued' limit ${maxQueuedPerRecipient}
        ) queued
      ) >= ${maxQueuedPerRecipient}`.execute(transaction);
  return rows.map(({ id }) => id);
}

export interface DueDeliveries {
  waiting: number;
  queued: number;
  oldestSeconds: number;
}

/** Reads all unsettled deliveries; the caller caches the result. */
export async function countDue(database: Kysely<DB>): Promise<DueDeliveries> {
  const { rows } = await sql<DueDeliveries>`
    select waiting.count::float8 as waiting, queued.count::float8 as queued,
      extract(epoch from coalesce(now() - least(waiting.oldest_at, queued.oldest_at), interval '0'))::float8
        as "oldestSeconds"
    from (select count(*), min(created_at) as oldest_at from deliveries where status = 'waiting') waiting,
      (select count(*), min(created_at) as oldest_at from deliveries where status = 'queued') queued`.execute(database);
  const [due] = rows;
  if (due === undefined) throw new Error("the count returned no row");
  return due;
}
