import type { UsageAggregation } from "@ehr-marketplace/contracts";
import { deferRows, executeDeferred, unprepared } from "@ehr-marketplace/service-kit/database";
import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { startOfDay } from "../subscriptions/terms.ts";
import { formatQuantity, parseQuantity } from "./decimal.ts";
import type { HourChange, HourChanges } from "./usage-hours.ts";
import { dayOf, type StoredRecord } from "./usage-record.ts";

export interface Reporter {
  /** The time of the last event. */
  reportedAt: Date | null;
  /** The second of the last batch, and how many there were in it. */
  second: Date;
  batches: number;
  /** The day of the last batch, and how many records were counted on it. */
  day: string | null;
  records: number;
}

/** The caller has locked the subscription's row. Undefined before the first batch. It is read with the next statement. */
export async function deferReporter(
  transaction: Transaction<DB>,
  subscriptionId: string,
): Promise<() => Promise<Reporter | undefined>> {
  const statement = transaction
    .selectFrom("usage_reporters")
    .select(["reported_at as reportedAt", "second", "batches", sql<string | null>`day::text`.as("day"), "records"])
    .where("subscription_id", "=", subscriptionId);
  const readRows = await deferRows(transaction, "find-usage-reporter", statement);
  return async () => (await readRows())[0];
}

export async function upsertReporter(
  transaction: Transaction<DB>,
  subscriptionId: string,
  { reportedAt, second, batches, day, records }: Reporter,
): Promise<void> {
  const changes = { reported_at: reportedAt, second, batches, day, records };
  const statement = transaction
    .insertInto("usage_reporters")
    .values({ subscription_id: subscriptionId, ...changes })
    .onConflict((conflict) => conflict.column("subscription_id").doUpdateSet(changes));
  await executeDeferred(transaction, "upsert-usage-reporter", statement);
}

interface RecordKey {
  id: string;
  occurredAt: Date;
}

/** The partitions to read. As a parameter, so that the planner reads no others: statements on records aren't prepared. */
const daysOf = (records: readonly RecordKey[]): string[] =>
  [...new Set(records.map(({ occurredAt }) => startOfDay(occurredAt).getTime()))].map((day) => dayOf(new Date(day)));

/** Those of the records that are stored. */
export async function findRecords(
  database: Kysely<DB>,
  subscriptionId: string,
  keys: readonly RecordKey[],
): Promise<StoredRecord[]> {
  const ids = [...new Set(keys.map(({ id }) => id))];
  const { rows } = await sql<Omit<StoredRecord, "quantity"> & { quantity: string }>`
    select record_id as id, occurred_at as "occurredAt", metric, quantity, aggregation, plan_id as "planId", is_trial as "isTrial", voided
    from usage_records
    where subscription_id = ${subscriptionId} and record_id = any (${ids}::text[]) and day = any (${daysOf(keys)}::date[])
  `.execute(database);
  return rows.map(({ quantity, ...row }) => ({ ...row, quantity: parseQuantity(quantity) ?? 0n }));
}

/** Who has sent a batch, and when. */
export interface Report {
  caller: { issuer: string; subject: string };
  requestId: string;
  at: Date;
}

export async function insertRecords(
  transaction: Transaction<DB>,
  subscriptionId: string,
  records: readonly StoredRecord[],
  { caller, requestId, at }: Report,
): Promise<void> {
  if (records.length === 0) return;
  const rows = JSON.stringify(
    records.map(({ quantity, ...record }) => ({ ...record, quantity: formatQuantity(quantity) })),
  );
  const statement = sql`
    insert into usage_records (
      subscription_id, record_id, day, occurred_at, metric, quantity, aggregation, plan_id, is_trial, reported_at, request_id,
      caller_issuer, caller_subject
    )
    select ${subscriptionId}, id, ("occurredAt" at time zone 'UTC')::date, "occurredAt", metric, quantity, aggregation, "planId", "isTrial",
      ${at}, ${requestId}, ${caller.issuer}, ${caller.subject}
    from json_to_recordset(${rows}::json) as given(
      id text, "occurredAt" timestamptz, metric text, quantity numeric, aggregation text, "planId" uuid, "isTrial" boolean)`;
  // Locks only the days of its records, also with a generic plan.
  await executeDeferred(transaction, "insert-usage-records", statement);
}

export async function voidRecords(
  transaction: Transaction<DB>,
  subscriptionId: string,
  records: readonly StoredRecord[],
  { caller, requestId, at }: Report,
): Promise<void> {
  if (records.length === 0) return;
  const keys = JSON.stringify(records.map(({ id, occurredAt }) => ({ id, day: dayOf(occurredAt) })));
  const statement = sql`
    update usage_records stored set voided = true, voided_at = ${at}, void_request_id = ${requestId},
      void_issuer = ${caller.issuer}, void_subject = ${caller.subject}
    from json_to_recordset(${keys}::json) as given(id text, day date)
    where stored.subscription_id = ${subscriptionId} and stored.record_id = given.id and stored.day = given.day
      and stored.day = any (${daysOf(records)}::date[])`;
  await executeDeferred(transaction, unprepared, statement);
}

const changedHours = (
  changes: readonly HourChange[],
) => sql`json_to_recordset(${JSON.stringify(changes)}::json) as given(
  hour timestamptz, metric text, aggregation text, "planId" uuid, "isTrial" boolean, quantity numeric, "recordCount" bigint,
  "latestAt" timestamptz, "latestId" text)`;

async function addToHours(
  transaction: Transaction<DB>,
  subscriptionId: string,
  changes: readonly HourChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const statement = sql`
    insert into usage_hours as stored
      (subscription_id, hour, metric, aggregation, plan_id, is_trial, quantity, record_count, latest_at, latest_id)
    select ${subscriptionId}, hour, metric, aggregation, "planId", "isTrial", quantity, "recordCount", "latestAt", "latestId"
    from ${changedHours(changes)}
    on conflict (subscription_id, hour, metric, aggregation, plan_id, is_trial) do update set
      record_count = stored.record_count + excluded.record_count,
      (quantity, latest_at, latest_id) = (
        select
          case
            when stored.aggregation = 'MAX' then greatest(stored.quantity, excluded.quantity)
            when stored.aggregation <> 'LATEST' then stored.quantity + excluded.quantity
            when is_later then excluded.quantity
            else stored.quantity
          end,
          case when is_later then excluded.latest_at else stored.latest_at end,
          case when is_later then excluded.latest_id else stored.latest_id end
        from (select stored.latest_at is null
          or (excluded.latest_at, excluded.latest_id) > (stored.latest_at, stored.latest_id) as is_later) compared
      )`;
  await executeDeferred(transaction, "add-to-usage-hours", statement);
}

/** Takes voided records off. The highest and the latest of those that remain are read by their indexes. */
async function removeFromHours(
  transaction: Transaction<DB>,
  subscriptionId: string,
  changes: readonly HourChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const days = [...new Set(changes.map(({ hour }) => hour.slice(0, 10)))];
  const statement = sql`
    update usage_hours stored set
      record_count = stored.record_count - given."recordCount",
      quantity = case stored.aggregation
        when 'MAX' then coalesce(highest.quantity, 0)
        when 'LATEST' then coalesce(latest.quantity, 0)
        else stored.quantity - given.quantity
      end,
      latest_at = latest.occurred_at,
      latest_id = latest.record_id
    from ${changedHours(changes)}
    left join lateral (
      select quantity from usage_records
      where subscription_id = ${subscriptionId} and day = any (${days}::date[]) and metric = given.metric
        and date_trunc('hour', occurred_at at time zone 'UTC') = given.hour at time zone 'UTC'
        and aggregation = 'MAX' and not voided and plan_id = given."planId" and is_trial = given."isTrial"
      order by quantity desc limit 1
    ) highest on given.aggregation = 'MAX'
    left join lateral (
      select quantity, occurred_at, record_id from usage_records
      where subscription_id = ${subscriptionId} and day = any (${days}::date[]) and metric = given.metric
        and occurred_at >= given.hour and occurred_at < given.hour + interval '1 hour'
        and aggregation = 'LATEST' and not voided and plan_id = given."planId" and is_trial = given."isTrial"
      order by occurred_at desc, record_id desc limit 1
    ) latest on given.aggregation = 'LATEST'
    where stored.subscription_id = ${subscriptionId} and stored.hour = given.hour and stored.metric = given.metric
      and stored.aggregation = given.aggregation and stored.plan_id = given."planId" and stored.is_trial = given."isTrial"`;
  await executeDeferred(transaction, unprepared, statement);
}

/** Calculates days from their hours. A day has at most 24 of a metric. */
async function updateDays(
  transaction: Transaction<DB>,
  subscriptionId: string,
  changes: readonly HourChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const days = [...new Set(changes.map(({ hour }) => hour.slice(0, 10)))].toSorted();
  // Not an array: PostgreSQL would plan the statement each time, because it knows how many elements it has.
  const rows = JSON.stringify(days.map((day) => ({ day })));
  const statement = sql`
    insert into usage_days
      (subscription_id, day, metric, aggregation, plan_id, is_trial, quantity, record_count, latest_at, latest_id)
    select ${subscriptionId}, day, hours.*
    from json_to_recordset(${rows}::json) as changed(day date)
    cross join lateral (
      select metric, aggregation, plan_id, is_trial,
        case aggregation
          when 'MAX' then max(quantity)
          when 'LATEST' then
            coalesce((array_agg(quantity order by latest_at desc, latest_id desc) filter (where record_count > 0))[1], 0)
          else sum(quantity)
        end,
        sum(record_count), max(latest_at),
        (array_agg(latest_id order by latest_at desc, latest_id desc) filter (where record_count > 0))[1]
      from usage_hours
      where subscription_id = ${subscriptionId} and hour >= day::timestamp at time zone 'UTC'
        and hour < (day + 1)::timestamp at time zone 'UTC'
      group by metric, aggregation, plan_id, is_trial
    ) hours
    on conflict (subscription_id, day, metric, aggregation, plan_id, is_trial) do update set quantity = excluded.quantity,
      record_count = excluded.record_count, latest_at = excluded.latest_at, latest_id = excluded.latest_id`;
  await executeDeferred(transaction, "update-usage-days", statement);
}

/** After the records were inserted and voided. */
export async function applyToHours(
  transaction: Transaction<DB>,
  subscriptionId: string,
  { added, removed }: HourChanges,
): Promise<void> {
  await addToHours(transaction, subscriptionId, added);
  await removeFromHours(transaction, subscriptionId, removed);
  await updateDays(transaction, subscriptionId, [...added, ...removed]);
}

export interface UsageBucket {
  metric: string;
  aggregation: UsageAggregation;
  from: Date;
  quantity: string;
}

/** The aggregate of a bucket, whatever the plans were. */
const ofPlans = sql`case aggregation
  when 'MAX' then max(quantity)
  when 'LATEST' then (array_agg(quantity order by latest_at desc, latest_id desc))[1]
  else sum(quantity)
end`;

/** The hours that have usage. */
export async function findHours(
  database: Kysely<DB>,
  subscriptionId: string,
  { from, to }: { from: Date; to: Date },
): Promise<UsageBucket[]> {
  const { rows } = await sql<UsageBucket>`
    select metric, aggregation, hour as "from", ${ofPlans} as quantity from usage_hours
    where subscription_id = ${subscriptionId} and hour >= ${from} and hour < ${to} and record_count > 0
    group by metric, aggregation, hour
    order by hour, metric, aggregation`.execute(database);
  return rows;
}

/** The days or months that have usage, from their days. */
export async function findDays(
  database: Kysely<DB>,
  subscriptionId: string,
  { from, to, granularity }: { from: Date; to: Date; granularity: "day" | "month" },
): Promise<UsageBucket[]> {
  const { rows } = await sql<UsageBucket>`
    select metric, aggregation, bucket as "from", ${ofPlans} as quantity
    from usage_days
    cross join lateral (select date_trunc(${granularity}, day::timestamp) at time zone 'UTC' as bucket) buckets
    where subscription_id = ${subscriptionId} and day >= ${dayOf(from)}::date and day < ${dayOf(to)}::date and record_count > 0
    group by metric, aggregation, bucket
    order by bucket, metric, aggregation`.execute(database);
  return rows;
}

/** What was used of a metric on a day, in UTC, while a plan was in force. */
export interface PlanUsage {
  subscriptionId: string;
  day: string;
  planId: string;
  /** It is free. */
  isTrial: boolean;
  metric: string;
  aggregation: UsageAggregation;
  quantity: string;
}

export interface DatedUsage extends PlanUsage {
  /** Of LATEST, when its value was. */
  latestAt: Date | null;
}

/** The days that have usage, in order. */
export async function findDailyUsage(
  database: Kysely<DB>,
  subscriptionIds: readonly string[],
  { from, to }: { from: Date; to: Date },
): Promise<DatedUsage[]> {
  const { rows } = await sql<DatedUsage>`
    select subscription_id as "subscriptionId", day::text, plan_id as "planId", is_trial as "isTrial", metric, aggregation, quantity,
      latest_at as "latestAt"
    from usage_days
    where subscription_id = any (${[...subscriptionIds]}::uuid[]) and day >= ${dayOf(from)}::date and day < ${dayOf(to)}::date
      and record_count > 0
    order by day, latest_at, subscription_id, metric, aggregation, plan_id, is_trial`.execute(database);
  return rows;
}

export async function createUsagePartitions(database: Kysely<DB>, now: Date): Promise<void> {
  await sql`select prepare_usage_partitions(${dayOf(now)}::date)`.execute(database);
}

/** The days whose records may be dropped, the oldest first. */
export async function findOldUsageDays(database: Kysely<DB>): Promise<string[]> {
  const { rows } = await sql<{ day: string }>`
    select day::text from (
      select to_date(right(relname, 8), 'YYYYMMDD') as day from pg_class join pg_inherits on inhrelid = pg_class.oid
      where inhparent = 'usage_records'::regclass and relname ~ '^usage_records_\\d{8}$'
    ) days
    where day < (now() at time zone 'UTC')::date - interval '13 months' order by day`.execute(database);
  return rows.map(({ day }) => day);
}

export async function dropUsageDay(database: Kysely<DB>, day: string): Promise<void> {
  await sql`select drop_usage_partition(${day}::date)`.execute(database);
}

export interface LateUsage {
  subscriptionId: string;
  month: string;
}

/** Remembers months of which usage was reported after they were over. */
export async function upsertLateUsage(
  transaction: Transaction<DB>,
  subscriptionId: string,
  months: readonly string[],
  reportedAt: Date,
): Promise<void> {
  if (months.length === 0) return;
  await sql`
    insert into late_usage (subscription_id, month, reported_at)
    select ${subscriptionId}, month, ${reportedAt} from unnest(${months.map((month) => `${month}-01`)}::date[]) as months(month)
    on conflict (subscription_id, month) do update set reported_at = excluded.reported_at
      where late_usage.reported_at < excluded.reported_at`.execute(transaction);
}

export async function findLateUsage(
  database: Kysely<DB>,
  subscriptionIds: readonly string[],
  { months, reportedSince }: { months: readonly string[]; reportedSince: Date },
): Promise<LateUsage[]> {
  const { rows } = await sql<LateUsage>`
    select subscription_id as "subscriptionId", to_char(month, 'YYYY-MM') as month from late_usage
    where subscription_id = any (${[...subscriptionIds]}::uuid[]) and month = any (${months.map((month) => `${month}-01`)}::date[])
      and reported_at >= ${reportedSince}
    order by subscription_id, late_usage.month`.execute(database);
  return rows;
}

export async function deleteLateUsage(
  transaction: Transaction<DB>,
  subscriptionIds: readonly string[],
  before: string,
): Promise<void> {
  await sql`
    delete from late_usage where subscription_id = any (${[...subscriptionIds]}::uuid[]) and month < ${`${before}-01`}::date`.execute(
    transaction,
  );
}
