import type { Queue } from "@ehr-marketplace/service-kit/queue";
import { type Kysely, type RawBuilder, sql, type Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";
import { deliveries, recoveries } from "../../queue/queues.ts";
import type { Backlog } from "./delivery-metrics.ts";
import { isUnsettled } from "./delivery-store.ts";
import { planRecovery, sendJobs } from "./jobs.ts";
import { headsOf, outsideSequence } from "./queue-store.ts";
import { isWithoutCallback } from "./recipient-store.ts";
import { firstPace, mostQueued } from "./retry-schedule.ts";

const most = 1_000;
// Not by its status: see 0008-delivery-indexes.sql.
const isDue = sql`settled_at is null`;
// With a limit: "not exists" may become a join that compares everything that is due with every job.
const hasJob = (queue: string, id: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`(select true from pgboss.job j where j.name = ${queue} and j.id = ${id} limit 1)`;

// From one recipient that something is due to the next: behind those that are held, or begin to flow again, there may be a
// million rows.
const flowing = sql`
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
 * Looks for what no one would ever send: queued without a job, or waiting with nothing to wait for. Locks and transactions
 * make sure that there is none; this is for the bug that nobody has thought of, and it counts what it finds.
 */
export async function sweepDeliveries(database: Kysely<DB>, queue: Queue, now: Date): Promise<number> {
  const before = new Date(now.getTime() - 60_000);
  return database.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ id: string | null; recipient_id: string }>`
      ${flowing}, without_job as materialized (
        select due.id from looked_at cross join lateral (
          (select id, created_at from ${headsOf(sql`looked_at.recipient_id`)} head)
          union all
          (select id, created_at from ${outsideSequence(sql`looked_at.recipient_id`, 2 * most)} outside)
        ) due
        where due.created_at < ${before} and ${hasJob(deliveries, sql`due.id`)} is null
        limit ${most}
      ), locked as materialized (
        select id from deliveries where id = any (array(select id from without_job)) and ${isUnsettled} order by id
        for update skip locked
      ), lost as (
        update deliveries set status = 'queued' where id = any (array(select id from locked))
        returning id, recipient_id
      ), crowd as (
        -- Those that answer well, but too slowly for what comes: from now on it waits as rows, and goes as fast as they take it
        update recipients set crowded = true where id = any (array(
          select recipient_id from deliveries where status = 'queued' group by recipient_id having count(*) >= ${mostQueued}
          intersect select recipient_id from looked_at
        ))
        returning id
      )
      select id, recipient_id from lost union all select null, id from crowd`.execute(transaction);
    const lost = rows.flatMap(({ id, recipient_id }) => (id === null ? [] : [{ id, recipient_id }]));
    await sendJobs(transaction, queue, lost);
    for (const { recipient_id } of rows.filter(({ id }) => id === null)) {
      await planRecovery(transaction, queue, recipient_id, { pace: firstPace, startAfter: now });
    }
    const forgotten = await findForgotten(transaction);
    for (const id of forgotten) await planRecovery(transaction, queue, id, { startAfter: now });
    return lost.length + forgotten.length;
  });
}

/** Held, with something due and somewhere to send it, and neither a probe on its way nor one planned. */
async function findForgotten(transaction: Transaction<DB>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select r.id from recipients r
      cross join lateral (select from deliveries where recipient_id = r.id and ${isDue} limit 1) due
    where r.status = 'held'
      and not ${isWithoutCallback(sql`r.id`)}
      and ${hasJob(recoveries, sql`r.id`)} is null
      and ${hasJob(deliveries, sql`r.probed_id`)} is null
    limit ${most} for update of r skip locked`.execute(transaction);
  return rows.map(({ id }) => id);
}

/** Reads everything that is unsettled; its caller keeps the result for a while. */
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
  if (backlog === undefined) throw new Error("a count without a row");
  return backlog;
}
