import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { type Kysely, sql } from "kysely";
import type { DB } from "../../database-schema.ts";

const dayOf = (now: Date): string => now.toISOString().slice(0, 10);

/** The log's days, a week ahead. */
export async function prepareAttemptPartitions(database: Kysely<DB>, now: Date): Promise<void> {
  await sql`select prepare_attempt_partitions(${dayOf(now)}::date)`.execute(database);
}

/** Each that somebody reads keeps the log from all others for a moment. Whoever reads one mostly reads them all. */
const mostTaken = 2;

/** The log's days that are older than they are kept for, each in a transaction of its own. Answers how many are left for next time. */
export async function dropOldAttempts(database: Kysely<DB>, now: Date, keptDays: number): Promise<number> {
  const { rows: old } = await sql<{ day: string }>`
    select day::text from (
      select to_date(right(relname, 8), 'YYYYMMDD') as day from pg_class join pg_inherits on inhrelid = pg_class.oid
      where inhparent = 'delivery_attempts'::regclass and relname ~ '^delivery_attempts_\\d{8}$'
    ) days
    where day < least(${dayOf(now)}::date, (now() at time zone 'UTC')::date)
      - greatest(${keptDays}::integer, (select least_days from delivery_log_retention))
    order by day`.execute(database);
  let [dropped, taken] = [0, 0];
  for (const { day } of old) {
    const { rows } = await sql<{ dropped: boolean }>`
      select drop_attempt_partition(${day}::date, ${keptDays}) as dropped`.execute(database);
    if (rows[0]?.dropped === true) dropped += 1;
    else taken += 1;
    if (taken === mostTaken) break;
  }
  return old.length - dropped;
}

/** The owner's floor decides, not the service's configuration. */
export async function warnOfShortLog(database: Kysely<DB>, logDays: number, logger: Logger): Promise<void> {
  const { least_days: leastDays } = await database
    .selectFrom("delivery_log_retention")
    .select("least_days")
    .executeTakeFirstOrThrow();
  if (logDays < leastDays) {
    logger.warn(
      { logDays, leastDays },
      "DELIVERY_LOG_DAYS is below the database's floor; keeping attempts until the floor",
    );
  }
}
