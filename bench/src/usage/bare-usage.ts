import { withClient } from "@ehr-marketplace/test-kit";
import type pg from "pg";

export interface SentRecord {
  id: string;
  metric: string;
  quantity: string;
  occurredAt: string;
}

/** Creates tables like those of usage, with the same indexes, checks and days. */
export function createBareTables(ownerUrl: string): Promise<void> {
  return withClient(ownerUrl, async (client) => {
    await client.query(`
      create table bare_records (like usage_records including all) partition by range (day);
      create table bare_hours (like usage_hours including all);
      grant select, insert, update on bare_records, bare_hours to marketplace_service;
      do $$
      declare
        day date;
      begin
        for day in select to_date(right(relname, 8), 'YYYYMMDD') from pg_class join pg_inherits on inhrelid = pg_class.oid
          where inhparent = 'usage_records'::regclass
        loop
          execute format('create table %I partition of bare_records for values from (%L) to (%L)',
            'bare_records_' || to_char(day, 'YYYYMMDD'), day, day + 1);
        end loop;
      end $$`);
  });
}

const insertRecords = `
  insert into bare_records (subscription_id, record_id, day, occurred_at, metric, quantity, aggregation, plan_id, is_trial, reported_at)
  select $1, id, (at at time zone 'UTC')::date, at, metric, quantity, 'SUM', $1, false, now()
  from unnest($2::text[], $3::timestamptz[], $4::text[], $5::numeric[]) as given (id, at, metric, quantity)
  on conflict do nothing`;
const addToHours = `
  insert into bare_hours as stored (subscription_id, hour, metric, aggregation, plan_id, is_trial, quantity, record_count)
  select $1, hour, metric, 'SUM', $1, false, quantity, record_count
  from unnest($2::timestamptz[], $3::text[], $4::numeric[], $5::bigint[]) as given (hour, metric, quantity, record_count)
  on conflict (subscription_id, hour, metric, aggregation, plan_id, is_trial) do update set
    quantity = stored.quantity + excluded.quantity, record_count = stored.record_count + excluded.record_count`;

/** What a program without any check would do with a batch, in one transaction. */
export async function insertBareBatch(connection: pg.Client, id: string, records: SentRecord[]): Promise<void> {
  const hours = Map.groupBy(records, ({ metric, occurredAt }) => `${occurredAt.slice(0, 13)}:00Z ${metric}`);
  const sums = [...hours].map(([key, group]) => ({
    hour: key.slice(0, 17),
    metric: key.slice(18),
    quantity: group.reduce((sum, { quantity }) => sum + Number(quantity), 0),
    count: group.length,
  }));
  await connection.query("begin");
  await connection.query({
    name: "records",
    text: insertRecords,
    values: [
      id,
      records.map((record) => record.id),
      records.map(({ occurredAt }) => occurredAt),
      records.map(({ metric }) => metric),
      records.map(({ quantity }) => quantity),
    ],
  });
  await connection.query({
    name: "hours",
    text: addToHours,
    values: [
      id,
      sums.map(({ hour }) => hour),
      sums.map(({ metric }) => metric),
      sums.map(({ quantity }) => quantity),
      sums.map(({ count }) => count),
    ],
  });
  await connection.query("commit");
}
