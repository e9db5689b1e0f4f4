import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { withClient } from "@ehr-marketplace/dev/postgres";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import { cleanUpAfter, cloneDatabase, connectTo, eventually, startEhr } from "@ehr-marketplace/tests/support";
import type { DB } from "./database-schema.ts";
import { chores } from "./queues.ts";

describe("what the clock starts", () => {
  const cleanUp = cleanUpAfter();
  let ownerUrl: string;
  let queue: Queue;
  before(async () => {
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    // Two processes of the same service: each chore is for one of them.
    await startEhr(cleanUp, database.serviceUrl);
    await startEhr(cleanUp, database.serviceUrl);
    ({ queue } = await connectTo<DB>(cleanUp, database.serviceUrl));
  });
  const rows = async <T extends object>(sql: string): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(sql))).rows;
  const start = async (chore: string): Promise<unknown> => (await queue.boss()).send(chores, { chore });

  test("is a minute's deletion of launches that nobody redeemed, an hour's house-keeping, an hour's look at the catalog, and a night's reconciliation, missed nights included", async () => {
    await eventually(
      "the clock is wound",
      20_000,
      async () => (await rows("select from pgboss.schedule")).length === 4,
    );
    const wound = await rows("select key, cron, options ->> 'missed' as missed from pgboss.schedule order by key");
    assert.deepEqual(wound, [
      { key: "expire-contexts", cron: "* * * * *", missed: "skip" },
      { key: "keep-house", cron: "11 * * * *", missed: "skip" },
      { key: "reconcile", cron: "23 1 * * *", missed: "once" },
      { key: "refresh-apps", cron: "41 * * * *", missed: "skip" },
    ]);
  });

  test("a launch that nobody redeemed in time is forgotten, and no other", async () => {
    await rows(`insert into launch_contexts
      select sha256(nth::text::bytea), gen_random_uuid(), 'riverside-clinic', 'app', 'somebody', gen_random_uuid(), null,
        now() + nth * interval '5 minutes' from unnest(array[-1, 1]) as nth`);
    await start("expire-contexts");
    const kept = () => rows<{ live: boolean }>("select expires_at > now() as live from launch_contexts");
    await eventually("it is forgotten", 20_000, async () => (await kept()).length === 1);
    assert.deepEqual(await kept(), [{ live: true }]);
  });

  test("house-keeping forgets deliveries after 45 days, and has the launch log's days ready", async () => {
    await rows(`insert into applied_deliveries values
      ('riverside-clinic', 'old', now() - interval '46 days'), ('riverside-clinic', 'young', now() - interval '44 days')`);
    await rows(
      `do $$ begin execute 'drop table launches_' || to_char((now() at time zone 'UTC') + interval '7 days', 'YYYYMMDD'); end $$`,
    );
    await start("keep-house");
    const kept = () => rows<{ delivery_id: string }>("select delivery_id from applied_deliveries");
    await eventually("the old one is forgotten", 20_000, async () => (await kept()).length === 1);
    assert.deepEqual(await kept(), [{ delivery_id: "young" }]);
    await eventually("the last day is there", 20_000, async () => {
      const [last] = await rows<{ there: boolean }>(
        "select to_regclass('launches_' || to_char((now() at time zone 'UTC') + interval '7 days', 'YYYYMMDD')) is not null as there",
      );
      return last?.there === true;
    });
  });

  test("the night's reconciliation is a job for each organisation, spread over hours", async () => {
    await start("reconcile");
    const jobs = () =>
      rows<{ alias: string; soon: boolean }>(
        `select data ->> 'alias' as alias, start_after < now() + interval '4 hours' as soon from pgboss.job
         where name = 'reconciliations' order by 1`,
      );
    await eventually("the jobs are there", 20_000, async () => (await jobs()).length === 2);
    assert.deepEqual(await jobs(), [
      { alias: "hilltop-family-practice", soon: true },
      { alias: "riverside-clinic", soon: true },
    ]);
  });
});
