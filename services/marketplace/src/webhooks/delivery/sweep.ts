import type { Queue } from "@ehr-marketplace/service-kit/queue";
import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";
import { deliveries, recoveries } from "../../queue/queues.ts";
import type { Backlog } from "./delivery-metrics.ts";
import { planRecovery, sendJobs } from "./jobs.ts";
import { queuedTo } from "./queue-store.ts";
import { isWithoutCallback } from "./recipient-store.ts";
import { firstPace, mostQueued } from "./retry-schedule.ts";

const most = 1_000;
const isDue = sql`status in ('waiting', 'queued')`;

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
      and not exists (select from pgboss.job j where j.name = ${recoveries} and j.id = owed.recipient_id)
  )`;

/**
 * Looks for what no one would ever send: queued without a job, or waiting with nothing to wait for. Locks and transactions
 * make sure that there is none; this is for the bug that nobody has thought of, and it counts what it finds.
 */
export async function sweepDeliveries(database: Kysely<DB>, queue: Queue, now: Date): Promise<number> {
  const before = new Date(now.getTime() - 60_000);
  return database.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ id: string | null; recipient_id: string }>`
      ${flowing}, lost as (
        update deliveries set status = 'queued' where id = any (array(
          select due.id from looked_at cross join lateral (
            select d.id from deliveries d
            where d.recipient_id = looked_at.recipient_id and d.${isDue} and d.created_at < ${before}
              and not exists (select from pgboss.job j where j.name = ${deliveries} and j.id = d.id)
              and (d.status = 'queued' or not exists (
                select from deliveries earlier
                where earlier.subscription_id = d.subscription_id and earlier.recipient_id = d.recipient_id
                  and earlier.${isDue} and earlier.sequence < d.sequence
              ))
            order by d.created_at limit ${most} for update of d skip locked
          ) due
          limit ${most}
        ))
        returning id, recipient_id
      ), crowd as (
        -- Those that answer well, but too slowly for what comes: from now on it waits as rows, and goes as fast as they take it
        update recipients set crowded = true
        where id in (select recipient_id from looked_at where ${queuedTo(sql`looked_at.recipient_id`)} >= ${mostQueued})
          and status = 'active'
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
      and not exists (select from pgboss.job j where j.name = ${recoveries} and j.id = r.id)
      and not exists (select from pgboss.job j where j.name = ${deliveries} and j.id = r.probed_id)
    limit ${most} for update of r skip locked`.execute(transaction);
  return rows.map(({ id }) => id);
}

export async function readBacklog(database: Kysely<DB>): Promise<Backlog> {
  const { rows } = await sql<Backlog>`
    select
      (select count(*) from deliveries where status = 'waiting')::float8 as waiting,
      (select count(*) from deliveries where status = 'queued')::float8 as queued,
      (select count(*) from recipients r where status = 'held'
        and not ${isWithoutCallback(sql`r.id`)})::float8 as held,
      (select count(*) from recipients where status = 'disabled')::float8 as disabled,
      (select coalesce(extract(epoch from now() - min(created_at)), 0) from deliveries
        where status in ('waiting', 'queued'))::float8 as "oldestSeconds"`.execute(database);
  const [backlog] = rows;
  if (backlog === undefined) throw new Error("a count without a row");
  return backlog;
}
