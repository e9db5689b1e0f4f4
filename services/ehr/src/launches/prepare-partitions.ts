import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";

/** The log's days: a week ahead is made, and what is older than it is kept for goes. Answers how many days went. */
export async function prepareLaunchPartitions(database: Kysely<DB>, now: Date, keptDays: number): Promise<number> {
  const today = now.toISOString().slice(0, 10);
  const { rows } = await sql<{ dropped: number }>`
    select prepare_launch_partitions(${today}::date, ${keptDays}) as dropped`.execute(database);
  return rows[0]?.dropped ?? 0;
}
