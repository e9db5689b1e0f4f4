import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";
import type { ScopeColumns } from "./agreed-scopes.ts";
import type { BatchCursor } from "./subscription-store.ts";

export interface LiveWithScopes extends BatchCursor, ScopeColumns {
  organisation_id: string;
  org_alias: string;
  app_name: string;
  status: string;
  suspension_id: string | null;
}

/** The app's next live subscriptions, newest first. One range of the index for each status. */
export async function findLiveWithScopes(
  database: Kysely<DB>,
  appId: string,
  { after, limit }: { after: BatchCursor | undefined; limit: number },
): Promise<LiveWithScopes[]> {
  const ofStatus = (status: string) => sql`
    (select id, created_at, organisation_id, fhir_scopes, status, suspension_id from subscriptions
    where app_id = ${appId} and status = ${status}
      ${after === undefined ? sql`` : sql`and (created_at, id) < (${after.created_at}::timestamptz, ${after.id}::uuid)`}
    order by created_at desc, id desc limit ${sql.lit(limit)})`;
  const { rows } = await sql<LiveWithScopes>`
    select live.*, organisations.alias as org_alias, apps.fhir_scopes as app_fhir_scopes, apps.name as app_name
    from (${ofStatus("active")} union all ${ofStatus("paused")}) live
    join organisations on organisations.id = live.organisation_id cross join apps
    where apps.id = ${appId}
    order by live.created_at desc, live.id desc limit ${sql.lit(limit)}`.execute(database);
  return rows;
}
