import type { PricingPlanDto } from "@ehr-marketplace/contracts";
import { deferRows, executePrepared } from "@ehr-marketplace/service-kit/database";
import { type Kysely, type RawBuilder, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";

export interface HistoryRow {
  id: string;
  organisationId: string;
  orgAlias: string;
  appId: string;
  appSlug: string;
  appName: string;
  vendorId: string;
  createdAt: Date;
  cancelledAt: Date | null;
  pausedAt: Date | null;
  trialEndsAt: Date | null;
  planId: string;
  quantity: number | null;
  /** Those at the start of a day, in order. */
  endedTerms: { endedAt: string; planId: string; quantity: number | null }[];
  endedPauses: { from: string; to: string }[];
}

/** Prices depend on pauses at the start of a day only: at most one for each day, however often a subscription is paused. */
const atStartOfDay = sql`(ended_at at time zone 'UTC')::date > ((paused_at - interval '1 millisecond') at time zone 'UTC')::date`;

interface HistoryPeriod {
  since: Date;
  /** All pauses since this time. By default only those at the start of a day. */
  pausesSince?: Date;
}

const historyColumns = ({ since, pausesSince }: HistoryPeriod) => sql`
  subscriptions.id, subscriptions.organisation_id as "organisationId", organisations.alias as "orgAlias",
  subscriptions.app_id as "appId", apps.slug as "appSlug", apps.name as "appName", apps.vendor_id as "vendorId",
  subscriptions.created_at as "createdAt", subscriptions.cancelled_at as "cancelledAt",
  subscriptions.paused_at as "pausedAt", subscriptions.trial_ends_at as "trialEndsAt",
  subscriptions.pricing_plan_id as "planId", subscriptions.quantity,
  coalesce((
    select json_agg(json_build_object('endedAt', ended_at, 'planId', pricing_plan_id, 'quantity', quantity) order by ended_at)
    from (
      -- A day has the terms at its start: those that end first after it. So a month has at most 31, however often they change.
      select distinct on (((ended_at - interval '1 millisecond') at time zone 'UTC')::date) * from ended_terms
      where subscription_id = subscriptions.id and ended_at > ${since}
      order by ((ended_at - interval '1 millisecond') at time zone 'UTC')::date, ended_at
    ) first_of_day
  ), '[]') as "endedTerms",
  coalesce((
    select json_agg(json_build_object('from', paused_at, 'to', ended_at) order by paused_at)
    from ended_pauses where subscription_id = subscriptions.id and ended_at > ${pausesSince ?? since}
      ${pausesSince === undefined ? sql`and ${atStartOfDay}` : sql``}
  ), '[]') as "endedPauses"`;

const selectHistories = (period: HistoryPeriod, condition: RawBuilder<unknown>) => sql<HistoryRow>`
  select ${historyColumns(period)} from subscriptions
  join organisations on organisations.id = subscriptions.organisation_id
  join apps on apps.id = subscriptions.app_id
  where ${condition} order by subscriptions.id`;

const selectHistory = (period: HistoryPeriod, id: string) => selectHistories(period, sql`subscriptions.id = ${id}`);

/** What a subscription is, and was since a time, with all its pauses. It is read with the next statement. */
export async function deferHistoryRow(
  transaction: Transaction<DB>,
  id: string,
  period: Required<HistoryPeriod>,
): Promise<() => Promise<HistoryRow | undefined>> {
  const readRows = await deferRows(transaction, "find-history-with-pauses", selectHistory(period, id));
  return async () => (await readRows())[0];
}

/** What subscriptions are, and were at the start of each day since a time. In the order of their ids. */
export async function findHistoryRows(
  database: Kysely<DB>,
  ids: readonly string[],
  since: Date,
): Promise<HistoryRow[]> {
  const [only, ...others] = ids;
  // Planning one takes longer than executing it.
  const { rows } =
    only !== undefined && others.length === 0
      ? await executePrepared(database, "find-history", selectHistory({ since }, only))
      : await selectHistories({ since }, sql`subscriptions.id = any (${[...ids]}::uuid[])`).execute(database);
  return rows;
}

/** On sale or not. */
export async function findPlans(database: Kysely<DB>, ids: readonly string[]): Promise<PricingPlanDto[]> {
  const { rows } = await sql<{ dto: PricingPlanDto }>`
    select dto from plan_records where id = any (${[...ids]}::uuid[])`.execute(database);
  return rows.map(({ dto }) => dto);
}
