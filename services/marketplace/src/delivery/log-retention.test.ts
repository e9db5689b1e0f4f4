import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";

test("a starting worker drops partitions older than 90 days and creates the next ones", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "demo");
  const query = <T extends object>(statement: string): Promise<T[]> =>
    withClient(ownerUrl, async (client) => (await client.query<T>(statement)).rows);
  const agesOfDays = async (): Promise<number[]> => {
    const found = await query<{ age: number }>(
      `select (now() at time zone 'UTC')::date - to_date(right(relname, 8), 'YYYYMMDD') as age
       from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'delivery_attempts'::regclass order by 1 desc`,
    );
    return found.map(({ age }) => age);
  };
  const dayAgo = (age: number): string =>
    `do $$
     declare day date := (now() at time zone 'UTC')::date - ${age};
     begin
       execute format('create table %I partition of delivery_attempts for values from (%L) to (%L)',
         'delivery_attempts_' || to_char(day, 'YYYYMMDD'), day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
       insert into delivery_attempts (id, delivery_id, recipient_id, url, attempt, started_at)
       values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'from ${age} days ago', 1, day::timestamp at time zone 'UTC');
     end $$`;
  for (const age of [400, 92, 89]) await query(dayAgo(age));
  const lastDay = (await agesOfDays()).at(-1);
  await query(`do $$ begin
    execute 'drop table delivery_attempts_' || to_char((now() at time zone 'UTC')::date - (${lastDay}), 'YYYYMMDD'); end $$`);

  await startWorkerProcess(cleanUp, serviceUrl, { environment: { LOG_LEVEL: "error" } });
  await eventually("the old days are gone", 20_000, async () => (await agesOfDays())[0] === 89);
  assert.deepEqual(await query("select url from delivery_attempts"), [{ url: "from 89 days ago" }]);
  assert.deepEqual((await agesOfDays()).slice(1), [1, 0, -1, -2, -3, -4, -5, -6, -7]);
});
