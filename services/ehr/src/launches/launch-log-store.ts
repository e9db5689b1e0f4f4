import type { Slice } from "@ehr-marketplace/service-kit/http";
import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";
import type { LaunchType } from "./launch.ts";

export interface LaunchRow {
  id: string;
  launch_type: LaunchType;
  user_subject: string;
  launched_at: Date;
}

interface Log {
  orgAlias: string;
  appSlug: string;
}

/** Whose patients they were is not even read. */
export async function findLaunches(
  database: Kysely<DB>,
  { orgAlias, appSlug }: Log,
  { after, limit }: Slice,
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
