import type { Slice } from "@ehr-marketplace/service-kit/http";
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

/** A range of the index of paused ones. Stated as an equality, PostgreSQL may read all paused ones for a rare reason. */
function pausedFor(reason: string, after: Slice["after"]): RawBuilder<unknown> {
  const end = after ?? { at: "infinity", id: "ffffffff-ffff-ffff-ffff-ffffffffffff" };
  const key = sql`(s.pause_reason, s.created_at, s.id)`;
  return sql`and s.status = 'paused' and ${key} < (${reason}::text, ${end.at}::timestamptz, ${end.id}::uuid)
    and ${key} >= (${reason}::text, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid)`;
}

/**
 * Subscriptions of all organisations, the newest first. Each app and status is one range of an index that is sorted already,
 * and so is each status of all apps, and each reason of a pause: the first of each range hold the first of all. Whatever the filter and however many there
 * are, no more than `limit` of each range are read.
 */
export async function findInRanges(
  database: Kysely<DB>,
  filter: ListFilter,
  { after, limit }: Slice,
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
      select found.id, found.created_at from unnest(${statuses}::text[]) as wanted (status) ${apps}
      cross join lateral (
        select id, created_at from subscriptions s
        where s.status = wanted.status
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
