import type { PageSlice } from "@ehr-marketplace/service-kit/http";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { DB } from "../database-schema.ts";
import { withAgreedScopes } from "./agreed-scopes.ts";
import type { SubscriptionRow } from "./subscription-store.ts";

export interface ListFilter {
  /** Slug of the vendor whose apps are subscribed to. */
  vendor?: string | undefined;
  appSlug?: string | undefined;
  orgAlias?: string | undefined;
  pauseReason?: string | undefined;
  statuses: readonly string[];
}

type Sql = RawBuilder<unknown>;

const behindCursor = (after: PageSlice["after"]): Sql =>
  after === undefined ? sql`` : sql`and (s.created_at, s.id) < (${after.at}::timestamptz, ${after.id}::uuid)`;

/** A range on an index of paused subscriptions. For an equality PostgreSQL may read all paused subscriptions to find a rare reason. */
function pausedFor(reason: string, after: PageSlice["after"]): Sql {
  const end = after ?? { at: "infinity", id: "ffffffff-ffff-ffff-ffff-ffffffffffff" };
  const key = sql`(s.pause_reason, s.created_at, s.id)`;
  return sql`and s.status = 'paused' and ${key} < (${reason}::text, ${end.at}::timestamptz, ${end.id}::uuid)
    and ${key} >= (${reason}::text, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid)`;
}

/** The ids of the apps that are named by vendor or slug; undefined if neither is given. */
function namedApps({ vendor, appSlug }: ListFilter): Sql | undefined {
  if (vendor === undefined && appSlug === undefined) return undefined;
  const ofVendor = vendor === undefined ? sql`` : sql`and vendor_id = (select id from vendors where slug = ${vendor})`;
  const named = appSlug === undefined ? sql`` : sql`and slug = ${appSlug}`;
  return sql`select id from apps where true ${ofVendor} ${named}`;
}

/**
 * One organisation has few subscriptions: they are read in order, and then filtered. `offset 0` keeps the filters out of the inner query:
 * with them, PostgreSQL may read all subscriptions to an app.
 */
function pageOfOrganisation(orgAlias: string, filter: ListFilter, { after, limit }: PageSlice): Sql {
  const apps = namedApps(filter);
  return sql`
    select id, created_at from (
      select s.id, s.created_at, s.app_id, s.status, s.pause_reason from subscriptions s
      where s.organisation_id = (select id from organisations where alias = ${orgAlias}) ${behindCursor(after)}
      order by s.created_at desc, s.id desc offset 0
    ) of_organisation
    where status = any (${filter.statuses}::text[])
      ${apps === undefined ? sql`` : sql`and app_id = any (array(${apps}))`}
      ${filter.pauseReason === undefined ? sql`` : sql`and pause_reason = ${filter.pauseReason}`}
    order by created_at desc, id desc limit ${sql.lit(limit)}`;
}

/**
 * Each combination of app and status, each status, and each pause reason is a sorted range of an index. The query reads at most `limit`
 * rows of each range and merges them.
 */
function pageOfRanges(filter: ListFilter, { after, limit }: PageSlice): Sql {
  const { pauseReason, statuses } = filter;
  const apps = namedApps(filter);
  return sql`
    select found.id, found.created_at from unnest(${statuses}::text[]) as selected (status)
    ${apps === undefined ? sql`` : sql`cross join (${apps}) app`}
    cross join lateral (
      select id, created_at from subscriptions s
      where s.status = selected.status
        ${apps === undefined ? sql`` : sql`and s.app_id = app.id`}
        ${pauseReason === undefined ? behindCursor(after) : pausedFor(pauseReason, after)}
      order by ${pauseReason === undefined ? sql`` : sql`s.pause_reason desc,`} s.created_at desc, s.id desc limit ${sql.lit(limit)}
    ) found
    order by found.created_at desc, found.id desc limit ${sql.lit(limit)}`;
}

/** Subscriptions of all organisations, or of one, newest first. */
export async function findFilteredSubscriptions(
  database: Kysely<DB>,
  filter: ListFilter,
  slice: PageSlice,
): Promise<SubscriptionRow[]> {
  const { orgAlias } = filter;
  const { rows } = await sql<Omit<SubscriptionRow, "scopes">>`
    select s.*, organisations.alias as org_alias, apps.slug as app_slug, apps.fhir_scopes as app_fhir_scopes,
      plan_records.dto as pricing_plan
    from (${orgAlias === undefined ? pageOfRanges(filter, slice) : pageOfOrganisation(orgAlias, filter, slice)}) page
    join subscriptions s on s.id = page.id
    join organisations on organisations.id = s.organisation_id
    join apps on apps.id = s.app_id
    join plan_records on plan_records.id = s.pricing_plan_id
    order by page.created_at desc, page.id desc`.execute(database);
  return withAgreedScopes(rows);
}
