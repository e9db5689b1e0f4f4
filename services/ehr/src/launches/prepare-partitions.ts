import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";

/** The log's days, a week ahead. */
export async function prepareLaunchPartitions(database: Kysely<DB>, now: Date): Promise<void> {
  const today = now.toISOString().slice(0, 10);
  await sql`select prepare_launch_partitions(${today}::date)`.execute(database);
}
