import type { PageSlice } from "@ehr-marketplace/service-kit/http";
import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";
import { deliveries } from "../queue/queues.ts";

/** Counts stop here, so that the response is fast also with millions of deliveries. */
export const maxCounted = 10_000;

export interface HealthRow {
  oldest_at: Date | null;
  ready_since: Date | null;
  waiting: number;
  queued: number;
  failed_last_day: number;
  held: number;
  disabled: number;
}

// In the order of an index, so that only the first rows are read; otherwise the planner may scan the whole table.
const bounded = (from: ReturnType<typeof sql>) =>
  sql<number>`(select count(*)::int from (select from ${from} limit ${maxCounted + 1}) counted)`;

export async function readHealthRow(database: Kysely<DB>, now: Date): Promise<HealthRow> {
  const lastDay = new Date(now.getTime() - 86_400_000);
  const { rows } = await sql<HealthRow>`
    select
      least(
        (select created_at from deliveries where status = 'waiting' order by created_at limit 1),
        (select min(created_at) from deliveries where status = 'queued')
      ) as oldest_at,
      (select start_after from pgboss.job
        where name = ${sql.lit(deliveries)} and state < 'active' and not blocked and start_after <= ${now}
        order by priority desc, created_on limit 1) as ready_since,
      ${bounded(sql`deliveries where status = 'waiting' order by created_at`)} as waiting,
      ${bounded(sql`deliveries where status = 'queued'`)} as queued,
      ${bounded(sql`deliveries where status in ('failed', 'expired') and settled_at > ${lastDay} order by settled_at`)}
        as failed_last_day,
      ${bounded(sql`recipients where status = 'held' order by held_since`)} as held,
      ${bounded(sql`recipients where status = 'disabled' and not exists (
        select from webhook_endpoints e where e.id = recipients.id and e.deleted_at is not null
      ) order by held_since`)} as disabled`.execute(database);
  const [row] = rows;
  if (row === undefined) throw new Error("the count returned no row");
  return row;
}

export interface RecentAttempts {
  delivered: number;
  failed: number;
  unknown: number;
  oldest_at: Date | null;
}

/** Counts only the newest attempts: a day has millions, and no index has their outcome. */
export async function readRecentAttempts(database: Kysely<DB>, since: Date): Promise<RecentAttempts> {
  const { rows } = await sql<RecentAttempts>`
    select (count(*) filter (where outcome = 'delivered'))::int as delivered,
      (count(*) filter (where outcome = 'failed'))::int as failed,
      (count(*) filter (where outcome = 'unknown'))::int as unknown,
      min(started_at) as oldest_at
    from (
      select outcome, started_at from delivery_attempts where started_at > ${since}
      order by started_at desc limit ${maxCounted}
    ) newest`.execute(database);
  return rows[0] ?? { delivered: 0, failed: 0, unknown: 0, oldest_at: null };
}

export interface HeldEhrRow {
  id: string;
  alias: string;
  held_since: Date;
  probes: number;
  has_callback: boolean;
  oldest_due_at: Date;
}

/** EHRs with unsettled deliveries that have been held since before the given time. */
export async function findHeldEhrs(
  database: Kysely<DB>,
  heldBefore: Date,
  { after, limit }: PageSlice,
): Promise<HeldEhrRow[]> {
  const behind =
    after === undefined ? sql`` : sql`and (held_since, r.id) > (${after.at}::timestamptz, ${after.id}::uuid)`;
  const { rows } = await sql<HeldEhrRow>`
    select r.id, o.alias, r.held_since, r.probes, o.callback_url is not null as has_callback,
      due.created_at as oldest_due_at
    from recipients r join organisations o on o.id = r.id
    cross join lateral (
      select created_at from deliveries
      where recipient_id = r.id and settled_at is null order by created_at, id limit 1
    ) due
    where r.status = 'held' and r.kind = 'ehr' and r.held_since < ${heldBefore} ${behind}
    order by r.held_since, r.id limit ${limit}`.execute(database);
  return rows;
}

/** Since when nothing is sent to the EHR of an organisation, because it or its host is held; null if it isn't. */
export async function readEhrHealthRow(
  database: Kysely<DB>,
  id: string,
): Promise<{ held_since: Date | null; oldest_due_at: Date | null }> {
  const { rows } = await sql<{ held_since: Date | null; oldest_due_at: Date | null }>`
    select
      least(
        case when r.status = 'held' then r.held_since end,
        (select held_since from callback_origins where origin = o.callback_origin and status = 'held')
      ) as held_since,
      (select created_at from deliveries where recipient_id = r.id and settled_at is null order by created_at, id limit 1)
        as oldest_due_at
    from recipients r join organisations o on o.id = r.id where r.id = ${id}`.execute(database);
  const [row] = rows;
  if (row === undefined) throw new Error("an organisation has no recipient");
  return row;
}

export interface EhrCounts {
  all: number;
  held: number;
  heldTooLong: number;
}

/**
 * Counts only EHRs with a callback: an EHR that has not set one is no incident. `probes > 0` excludes most of those without looking up
 * their organisation, as they were never probed.
 */
export async function countEhrs(database: Kysely<DB>, tooLongBefore: Date): Promise<EhrCounts> {
  const { rows } = await sql<EhrCounts>`
    select (select count(*)::int from organisations where callback_origin is not null) as "all",
      count(*)::int as held,
      (count(*) filter (where held_since < ${tooLongBefore}))::int as "heldTooLong"
    from (
      select id, min(held_since) as held_since from (
        select r.id, r.held_since from recipients r join organisations o on o.id = r.id and o.callback_origin is not null
        where r.status = 'held' and r.kind = 'ehr' and r.probes > 0
        union all
        select o.id, c.held_since from callback_origins c join organisations o on o.callback_origin = c.origin
        where c.status = 'held'
      ) by_itself_or_with_origin group by id
    ) held`.execute(database);
  const [counts] = rows;
  if (counts === undefined) throw new Error("the count returned no row");
  return counts;
}
