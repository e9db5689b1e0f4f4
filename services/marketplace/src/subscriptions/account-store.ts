import type { PricingPlanDto } from "@ehr-marketplace/contracts";
import { executeDeferred, executePrepared } from "@ehr-marketplace/service-kit/database";
import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";

export interface AccountRow {
  id: string;
  organisationId: string;
  orgAlias: string;
  appId: string;
  appSlug: string;
  appName: string;
  vendorId: string;
  createdAt: Date;
  cancelledAt: Date | null;
  trialEndsAt: Date | null;
  activeSince: Date | null;
  pausedAt: Date | null;
  pauseReason: string | null;
  planId: string;
  quantity: number | null;
  endedPeriods: { from: string; to: string; planId: string; quantity: number | null }[];
  endedPauses: { from: string; to: string; reason: string | null }[];
}

const dayOf = (time: string) => sql`(${sql.raw(time)} at time zone 'UTC')::date`;
/** A period that ends at midnight is of the day before. */
const lastDayOf = (time: string) => sql`((${sql.raw(time)} - interval '1 millisecond') at time zone 'UTC')::date`;

/**
 * A day has the price of its dearest terms. So of the periods within a day those are read that can be the dearest: at most some for each
 * interval and for each plan with usage, however often a subscription changes.
 */
const selectPeriods = (since: Date) => sql`
  select from_at, to_at, pricing_plan_id, quantity from (
    select *, rank() over (
      partition by ${lastDayOf("to_at")}, within_day, interval,
        case when not within_day then to_at end,
        case when interval_amount > 0 then null else pricing_plan_id end, case when interval_amount is null then quantity end
      order by interval_amount desc, to_at desc
    ) as place
    from (
      -- In a time of an increase that counts as never made, the terms before it were in force.
      select from_at, to_at, coalesce(before.pricing_plan_id, periods.pricing_plan_id) as pricing_plan_id,
        case when before.ended_at is null then periods.quantity else before.quantity end as quantity,
        case when before.ended_at is null then interval_amount end as interval_amount, interval,
        ${dayOf("from_at")} = ${lastDayOf("to_at")} as within_day
      from active_periods periods
      left join lateral (
        select ended_terms.* from undone_increases undone
        join ended_terms on ended_terms.subscription_id = undone.subscription_id and ended_terms.ended_at = undone.from_at
        where undone.subscription_id = periods.subscription_id and undone.from_at <= periods.from_at and undone.to_at >= periods.to_at
      ) before on true
      where periods.subscription_id = subscriptions.id and to_at > ${since}
        and (subscriptions.trial_ends_at is null or to_at > subscriptions.trial_ends_at)
    ) counted
  ) placed where place = 1`;

const selectAccounts = (ids: readonly string[], since: Date) => sql<AccountRow>`
  select subscriptions.id, subscriptions.organisation_id as "organisationId", organisations.alias as "orgAlias",
    subscriptions.app_id as "appId", apps.slug as "appSlug", apps.name as "appName", apps.vendor_id as "vendorId",
    subscriptions.created_at as "createdAt", subscriptions.cancelled_at as "cancelledAt", subscriptions.trial_ends_at as "trialEndsAt",
    subscriptions.active_since as "activeSince", subscriptions.paused_at as "pausedAt", subscriptions.pause_reason as "pauseReason",
    subscriptions.pricing_plan_id as "planId", subscriptions.quantity,
    coalesce((
      select json_agg(json_build_object('from', from_at, 'to', to_at, 'planId', pricing_plan_id, 'quantity', quantity) order by to_at)
      from (${selectPeriods(since)}) periods
    ), '[]') as "endedPeriods",
    coalesce((
      select json_agg(json_build_object('from', paused_at, 'to', ended_at, 'reason', reason) order by paused_at)
      from ended_pauses where subscription_id = subscriptions.id and ended_at > ${since} and ${dayOf("ended_at")} > ${lastDayOf("paused_at")}
    ), '[]') as "endedPauses"
  from subscriptions
  join organisations on organisations.id = subscriptions.organisation_id
  join apps on apps.id = subscriptions.app_id
  where (subscriptions.organisation_id, subscriptions.app_id) in (
      select asked.organisation_id, asked.app_id from subscriptions asked where asked.id = any (${[...ids]}::uuid[])
    )
    and (subscriptions.cancelled_at is null or subscriptions.cancelled_at >= ${since} or subscriptions.id = any (${[...ids]}::uuid[]))
  order by subscriptions.created_at, subscriptions.id`;

/** The subscriptions that prices since a time depend on: these, and others of the same organisations to the same apps. */
export async function findAccountRows(
  database: Kysely<DB>,
  ids: readonly string[],
  since: Date,
): Promise<AccountRow[]> {
  const statement = selectAccounts(ids, since);
  // Planning one takes longer than executing it.
  const { rows } =
    ids.length === 1 ? await executePrepared(database, "find-account", statement) : await statement.execute(database);
  return rows;
}

const lockStatement = (organisationId: string, appId: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`account ${organisationId} ${appId}`}, 0))`;

/** Until the transaction ends. Subscriptions are locked before accounts are. */
export async function lockAccountRows(
  transaction: Transaction<DB>,
  { organisationId, appId }: Pick<AccountRow, "organisationId" | "appId">,
): Promise<void> {
  await lockStatement(organisationId, appId).execute(transaction);
}

/** The same with the next statement. */
export async function deferAccountLock(
  transaction: Transaction<DB>,
  { organisationId, appId }: Pick<AccountRow, "organisationId" | "appId">,
): Promise<void> {
  await executeDeferred(transaction, "lock-account", lockStatement(organisationId, appId));
}

/** On sale or not. */
export async function findPlans(database: Kysely<DB>, ids: readonly string[]): Promise<PricingPlanDto[]> {
  const { rows } = await sql<{ dto: PricingPlanDto }>`
    select dto from plan_records where id = any (${[...ids]}::uuid[])`.execute(database);
  return rows.map(({ dto }) => dto);
}
