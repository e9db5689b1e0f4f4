import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";

const dayOf = (now: Date): string => now.toISOString().slice(0, 10);

/** Creates the delivery log's daily partitions for the next week. */
export async function prepareAttemptPartitions(database: Kysely<DB>, now: Date): Promise<void> {
  await sql`select prepare_attempt_partitions(${dayOf(now)}::date)`.execute(database);
}

/** Waiting for the lock on a partition that is being read blocks the log for a moment, and a reader mostly reads all partitions. */
const maxBusy = 2;

/** Drops partitions beyond the retention, each in its own transaction. Returns how many are left for the next run. */
export async function dropOldAttempts(database: Kysely<DB>, now: Date, retentionDays: number): Promise<number> {
  const { rows: old } = await sql<{ day: string }>`
    select day::text from (
      select to_date(right(relname, 8), 'YYYYMMDD') as day from pg_class join pg_inherits on inhrelid = pg_class.oid
      where inhparent = 'delivery_attempts'::regclass and relname ~ '^delivery_attempts_\\d{8}$'
    ) days
    where day < least(${dayOf(now)}::date, (now() at time zone 'UTC')::date)
      - greatest(${retentionDays}::integer, (select least_days from delivery_log_retention))
    order by day`.execute(database);
  let [dropped, busy] = [0, 0];
  for (const { day } of old) {
    const { rows } = await sql<{ dropped: boolean }>`
      select drop_attempt_partition(${day}::date, ${retentionDays}) as dropped`.execute(database);
    if (rows[0]?.dropped === true) dropped += 1;
    else busy += 1;
    if (busy === maxBusy) break;
  }
  return old.length - dropped;
}

/** The minimum in the database takes precedence over the service's configuration. */
export async function warnIfRetentionTooShort(database: Kysely<DB>, logDays: number, logger: Logger): Promise<void> {
  const { least_days: minDays } = await database
    .selectFrom("delivery_log_retention")
    .select("least_days")
    .executeTakeFirstOrThrow();
  if (logDays < minDays) {
    logger.warn(
      { logDays, leastDays: minDays },
      "DELIVERY_LOG_DAYS is below the database's minimum; keeping attempts for the minimum",
    );
  }
}
