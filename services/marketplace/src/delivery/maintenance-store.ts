import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";

/** Expires waiting deliveries that have been due to a disabled endpoint since before the given time. */
export async function expireWaiting(database: Kysely<DB>, now: Date, before: Date, limit: number): Promise<number> {
  // A recipient that is being enabled is locked and skipped: its deliveries are sent.
  const { numAffectedRows = 0n } = await sql`
    update deliveries set status = 'expired', settled_at = ${now} where id = any (array(
      select kept.id from recipients r cross join lateral (
        select id, status from deliveries d
        where d.recipient_id = r.id and d.settled_at is null and d.created_at < ${before}
          and greatest(d.created_at, d.restarted_at) < ${before}
        order by d.created_at, d.id limit ${limit} for update skip locked
      ) kept
      where r.status = 'disabled' and r.disabled_at < ${before} and kept.status = 'waiting'
      limit ${limit} for share of r skip locked
    ))`.execute(database);
  return Number(numAffectedRows);
}

/** Deleted endpoints that may still have unsettled deliveries. */
export async function findDeletedRecipients(database: Kysely<DB>, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select r.id from recipients r join webhook_endpoints e on e.id = r.id
    where r.status = 'disabled' and e.deleted_at is not null order by r.held_since limit ${limit}`.execute(database);
  return rows.map(({ id }) => id);
}

/** Skips deliveries that are locked by a claim or a settlement; the next run drops them. */
export async function dropDeliveries(
  database: Kysely<DB>,
  recipientId: string,
  at: Date,
  limit: number,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update deliveries set status = 'dropped', settled_at = ${at}, next_attempt_at = null where id = any (array(
      select id from deliveries where recipient_id = ${recipientId} and settled_at is null
      limit ${limit} for update skip locked
    ))`.execute(database);
  return Number(numAffectedRows);
}

export async function hasUnsettled(transaction: Transaction<DB>, recipientId: string): Promise<boolean> {
  const { rows } = await sql`
    select from deliveries where recipient_id = ${recipientId} and settled_at is null limit 1`.execute(transaction);
  return rows.length > 0;
}

const dayOf = (now: Date): string => now.toISOString().slice(0, 10);

export async function createAttemptPartitions(database: Kysely<DB>, now: Date): Promise<void> {
  await sql`select prepare_attempt_partitions(${dayOf(now)}::date)`.execute(database);
}

/** The days of the delivery log beyond the retention and the database's minimum, the oldest first. */
export async function findOldAttemptDays(database: Kysely<DB>, now: Date, retentionDays: number): Promise<string[]> {
  const { rows } = await sql<{ day: string }>`
    select day::text from (
      select to_date(right(relname, 8), 'YYYYMMDD') as day from pg_class join pg_inherits on inhrelid = pg_class.oid
      where inhparent = 'delivery_attempts'::regclass and relname ~ '^delivery_attempts_\\d{8}$'
    ) days
    where day < least(${dayOf(now)}::date, (now() at time zone 'UTC')::date)
      - greatest(${retentionDays}::integer, (select least_days from delivery_log_retention))
    order by day`.execute(database);
  return rows.map(({ day }) => day);
}

/** Returns whether the partition was dropped. It isn't while it is being read. */
export async function dropAttemptDay(database: Kysely<DB>, day: string, retentionDays: number): Promise<boolean> {
  const { rows } = await sql<{ dropped: boolean }>`
    select drop_attempt_partition(${day}::date, ${retentionDays}) as dropped`.execute(database);
  return rows[0]?.dropped === true;
}

/** The minimum retention of the delivery log, which only the database's owner changes. */
export async function findMinRetentionDays(database: Kysely<DB>): Promise<number> {
  const { least_days } = await database
    .selectFrom("delivery_log_retention")
    .select("least_days")
    .executeTakeFirstOrThrow();
  return least_days;
}
