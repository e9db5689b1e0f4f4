import type { PageSlice } from "@ehr-marketplace/service-kit/http";
import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";
import type { LaunchType } from "./launch.ts";

export interface LaunchRow {
  id: string;
  launch_type: LaunchType;
  user_subject: string;
  launched_at: Date;
}

interface LaunchLogKey {
  orgAlias: string;
  appSlug: string;
}

/** Patient ids are not read. */
export async function findLaunches(
  database: Kysely<DB>,
  { orgAlias, appSlug }: LaunchLogKey,
  { after, limit }: PageSlice,
  { from, before }: { from: Date; before: Date | undefined },
): Promise<LaunchRow[]> {
  const { rows } = await sql<LaunchRow>`
    select id, launch_type, user_subject, launched_at from launches
    where org_alias = ${orgAlias} and app_slug = ${appSlug} and launched_at >= ${from}
      ${before === undefined ? sql`` : sql`and launched_at < ${before}`}
      ${after === undefined ? sql`` : sql`and launched_at <= ${after.at}::timestamptz and (launched_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)`}
    order by launched_at desc, id desc limit ${limit}`.execute(database);
  return rows;
}

/** The minimum retention that the owner set in the database. */
export async function findMinRetentionDays(database: Kysely<DB>): Promise<number> {
  const { least_days } = await database
    .selectFrom("launch_log_retention")
    .select("least_days")
    .executeTakeFirstOrThrow();
  return least_days;
}

/** Returns the name of the dropped partition, or null if none is old enough. */
export async function dropOldestDay(database: Kysely<DB>, now: Date, keptDays: number): Promise<string | null> {
  const today = now.toISOString().slice(0, 10);
  const { rows } = await sql<{ dropped: string | null }>`
    select drop_oldest_launches(${today}::date, ${keptDays}) as dropped`.execute(database);
  return rows[0]?.dropped ?? null;
}

export async function createPartitions(database: Kysely<DB>, now: Date): Promise<void> {
  const today = now.toISOString().slice(0, 10);
  await sql`select prepare_launch_partitions(${today}::date)`.execute(database);
}
