import { type Kysely, sql, type Transaction } from "kysely";
import type { Month } from "../billing/month.ts";
import type { DB } from "../database-schema.ts";
import type { StatementMonth } from "./statement-month.ts";

/** The first day of a month, as PostgreSQL stores it. */
export const firstDay = (month: Month): string => `${month}-01`;

const columns = sql`to_char(month, 'YYYY-MM') as month, status, phase, cursor, started_at as "startedAt", done::int as done,
  as_of as "asOf", closed_at as "closedAt"`;

/** In order. There are twelve a year. */
export async function findStatementMonths(database: Kysely<DB>): Promise<StatementMonth[]> {
  const { rows } = await sql<StatementMonth>`select ${columns} from statement_months order by month`.execute(database);
  return rows;
}

export async function insertStatementMonth(database: Kysely<DB>, month: Month, now: Date): Promise<void> {
  await sql`
    insert into statement_months (month, status, started_at) values (${firstDay(month)}::date, 'open', ${now})
    on conflict do nothing`.execute(database);
}

/** Undefined while another worker has locked it. */
export async function lockStatementMonth(
  transaction: Transaction<DB>,
  month: Month,
): Promise<StatementMonth | undefined> {
  const { rows } = await sql<StatementMonth>`
    select ${columns} from statement_months where month = ${firstDay(month)}::date for update skip locked`.execute(
    transaction,
  );
  return rows[0];
}

export async function updateStatementMonth(transaction: Transaction<DB>, row: StatementMonth): Promise<void> {
  await transaction
    .updateTable("statement_months")
    .set({
      status: row.status,
      phase: row.phase,
      cursor: row.cursor,
      started_at: row.startedAt,
      done: row.done,
      as_of: row.asOf,
      closed_at: row.closedAt,
    })
    .where(sql<boolean>`month = ${firstDay(row.month)}::date`)
    .execute();
}

/** When the first subscription of a practice began. Read from the index of each status. */
export async function findFirstSubscription(database: Kysely<DB>): Promise<Date | null> {
  const { rows } = await sql<{ first: Date | null }>`
    select min(first) as first from unnest(array['active', 'paused', 'cancelled']) as statuses(status)
    cross join lateral (
      select min(created_at) as first from subscriptions where subscriptions.status = statuses.status
    ) firsts`.execute(database);
  return rows[0]?.first ?? null;
}

/** Some subscriptions in the order of their ids, and those of them that may be charged. */
export interface SubscriptionWindow {
  last: string | null;
  size: number;
  ids: string[];
}

/** A subscription that was cancelled long ago may have a credit in the month. */
const isCredited = (month: Month) => sql`exists (
  select from credits where credits.month = ${firstDay(month)}::date and credits.subscription_id = subscriptions.id)`;

/**
 * The next subscriptions. To be charged, one began before the month's end and wasn't cancelled before `since`, or is credited; those of sandbox
 * organisations are free. The window is cut before it is filtered, so that it takes the same time however many were cancelled.
 */
export async function findSubscriptionWindow(
  database: Kysely<DB>,
  {
    month,
    after,
    size,
    since,
    before,
  }: { month: Month; after: string | null; size: number; since: Date; before: Date },
): Promise<SubscriptionWindow> {
  const { rows } = await sql<SubscriptionWindow>`
    with subscribed as (
      select id, organisation_id, created_at, cancelled_at, ${isCredited(month)} as is_credited from subscriptions
      where id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000') order by id limit ${size}
    )
    select (array_agg(subscribed.id order by subscribed.id desc))[1] as last, count(*)::int as size, coalesce(
      array_agg(subscribed.id order by subscribed.id) filter (
        where kind = 'LIVE' and subscribed.created_at < ${before} and (cancelled_at is null or cancelled_at >= ${since} or is_credited)
      ), '{}') as ids
    from subscribed join organisations on organisations.id = organisation_id`.execute(database);
  return rows[0] ?? { last: null, size: 0, ids: [] };
}

/** An organisation's subscriptions that may be charged, by the same rule. */
export async function findSubscriptionsOf(
  database: Kysely<DB>,
  organisationId: string,
  { month, since, before }: { month: Month; since: Date; before: Date },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select subscriptions.id from subscriptions join organisations on organisations.id = organisation_id
    where organisation_id = ${organisationId} and kind = 'LIVE' and subscriptions.created_at < ${before}
      and (cancelled_at is null or cancelled_at >= ${since} or ${isCredited(month)})
    order by subscriptions.id`.execute(database);
  return rows.map(({ id }) => id);
}

/** The next vendor in the order of their ids. */
export async function findNextVendorId(database: Kysely<DB>, after: string | null): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from vendors where id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
    order by id limit 1`.execute(database);
  return rows[0]?.id;
}
