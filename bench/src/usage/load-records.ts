import { withClient } from "@ehr-marketplace/test-kit";
import type pg from "pg";
import { metric } from "./load-subscribers.ts";

/** From 8:00 to 18:00. */
const hoursPerDay = 10;
const recordsPerHour = 10;

export interface Month {
  from: string;
  to: string;
  days: string[];
}

/** The month before this one. */
export function lastMonth(now: Date): Month {
  const start = (later: number): string =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + later)).toISOString();
  const [from, to] = [start(-1), start(0)];
  const days = (Date.parse(to) - Date.parse(from)) / 86_400_000;
  return {
    from,
    to,
    days: Array.from({ length: days }, (_, day) =>
      new Date(Date.parse(from) + day * 86_400_000).toISOString().slice(0, 10),
    ),
  };
}

/** How many subscriptions have so many records in a month, each as a practice uses an app: in some hours of each day. */
export const subscriptionsFor = (records: number, { days }: Month): number =>
  Math.ceil(records / (days.length * hoursPerDay * recordsPerHour));

/** Inserts the records of a month of all metered subscriptions, and their hours and days. Returns how many records there are. */
export async function loadRecords(ownerUrl: string, month: Month): Promise<number> {
  return withClient(ownerUrl, async (client) => {
    // Creates the partitions of a month that began more than 36 days ago, too.
    await client.query("select prepare_usage_partitions($1::date + 36)", [month.days[0]]);
    // Each row of the hours and days would check its foreign key.
    await client.query("set session_replication_role = replica");
    let count = 0;
    for (const day of month.days) {
      count += await insertDay(client, day);
      console.error(`  ${count.toLocaleString("en")} records until ${day}`);
    }
    await client.query("vacuum (analyze) usage_hours, usage_days");
    await client.query("analyze usage_records");
    return count;
  });
}

/** In the order of the hours, as they arrive: those of one subscription are in different pages. */
async function insertDay(client: pg.Client, day: string): Promise<number> {
  const partition = `usage_records_${day.replaceAll("-", "")}`;
  // Writes no WAL, which takes as long as the rows. It makes no difference for readers.
  await client.query(`alter table ${partition} set unlogged`);
  const { rowCount } = await client.query(
    `insert into ${partition} (subscription_id, record_id, day, occurred_at, metric, quantity, aggregation, plan_id, reported_at)
     select subscriptions.id, 'note-' || to_char(hour, 'HH24') || '-' || nth, $1::date, at, $2, nth % 7 + 0.5, 'SUM', plan.id, at
     from subscriptions join pricing_plans plan on plan.id = pricing_plan_id and plan.metric = $2
     cross join generate_series($1::timestamp + interval '8 hours', $1::timestamp + interval '17 hours', interval '1 hour') hour
     cross join generate_series(1, $3::int) nth
     cross join lateral (select (hour + nth * interval '5 minutes') at time zone 'UTC' as at) times
     order by subscriptions.id, hour, nth`,
    [day, metric, recordsPerHour],
  );
  await client.query(
    `insert into usage_hours (subscription_id, hour, metric, aggregation, plan_id, quantity, record_count)
     select subscription_id, hour, metric, aggregation, plan_id, sum(quantity), count(*)
     from ${partition}
     cross join lateral (select date_trunc('hour', occurred_at at time zone 'UTC') at time zone 'UTC' as hour) hours
     group by subscription_id, hour, metric, aggregation, plan_id
     order by hour, subscription_id`,
  );
  await client.query(
    `insert into usage_days (subscription_id, day, metric, aggregation, plan_id, quantity, record_count)
     select subscription_id, day, metric, aggregation, plan_id, sum(quantity), count(*) from ${partition}
     group by subscription_id, day, metric, aggregation, plan_id
     order by subscription_id`,
  );
  return rowCount ?? 0;
}
