import type { PageSlice } from "@ehr-marketplace/service-kit/http";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { DB } from "../database-schema.ts";
import type { SubscriptionRow } from "./subscription-store.ts";

export interface ListFilter {
  /** Slug of the vendor whose apps are subscribed to. */
  vendor?: string | undefined;
  appSlug?: string | undefined;
  orgAlias?: string | undefined;
  pauseReason?: string | undefined;
  statuses: readonly string[];
}

/** A range on the index of paused subscriptions. For an equality PostgreSQL may read all paused subscriptions to find a rare reason. */
function pausedFor(reason: string, after: PageSlice["after"]): RawBuilder<unknown> {
  const end = after ?? { at: "infinity", id: "ffffffff-ffff-ffff-ffff-ffffffffffff" };
  const key = sql`(s.pause_reason, s.created_at, s.id)`;
  return sql`and s.status = 'paused' and ${key} < (${reason}::text, ${end.at}::timestamptz, ${end.id}::uuid)
    and ${key} >= (${reason}::text, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid)`;
}

/**
 * Subscriptions of all organisations, newest first. Each combination of app and status, each status, and each pause reason is a
 * sorted range of an index. The query reads at most `limit` rows of each range and merges them.
 */
export async function findSubscriptionsInRanges(
  database: Kysely<DB>,
  filter: ListFilter,
  { after, limit }: PageSlice,
): Promise<SubscriptionRow[]> {
  const { vendor, appSlug, orgAlias, pauseReason, statuses } = filter;
  const byApp = vendor !== undefined || appSlug !== undefined;
  const ofVendor = vendor === undefined ? sql`` : sql`and vendor_id = (select id from vendors where slug = ${vendor})`;
  const named = appSlug === undefined ? sql`` : sql`and slug = ${appSlug}`;
  const apps = byApp ? sql`cross join (select id from apps where true ${ofVendor} ${named}) app` : sql``;
  const behindCursor =
    after === undefined ? sql`` : sql`and (s.created_at, s.id) < (${after.at}::timestamptz, ${after.id}::uuid)`;
  const { rows } = await sql<SubscriptionRow>`
    select s.*, organisations.alias as org_alias, apps.slug as app_slug
    from (
      select found.id, found.created_at from unnest(${statuses}::text[]) as selected (status) ${apps}
      cross join lateral (
        select id, created_at from subscriptions s
        where s.status = selected.status
          ${byApp ? sql`and s.app_id = app.id` : sql``}
          ${orgAlias === undefined ? sql`` : sql`and s.organisation_id = (select id from organisations where alias = ${orgAlias})`}
          ${pauseReason === undefined ? behindCursor : pausedFor(pauseReason, after)}
        order by ${pauseReason === undefined ? sql`` : sql`s.pause_reason desc,`} s.created_at desc, s.id desc limit ${sql.lit(limit)}
      ) found
      order by found.created_at desc, found.id desc limit ${sql.lit(limit)}
    ) page
    join subscriptions s on s.id = page.id
    join organisations on organisations.id = s.organisation_id
    join apps on apps.id = s.app_id
    order by page.created_at desc, page.id desc`.execute(database);
  return rows;
}
