import assert from "node:assert/strict";
import { test } from "node:test";
import { loadSubscribers } from "@ehr-marketplace/dev/demo-data";
import { withClient } from "@ehr-marketplace/dev/postgres";
import {
  cleanUpAfter,
  cloneDatabase,
  connectTo,
  eventually,
  registerPractices,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support";
import { v7 as uuid } from "uuid";
import type { DB } from "./database-schema.ts";
import { recoveries, replays } from "./queue/queues.ts";

test("a worker winds the clock and looks after recipients, also where the house can't be kept and a replay is stuck", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const run = (sql: string, ...values: unknown[]): Promise<{ status?: string }[]> =>
    withClient(ownerUrl, async (client) => (await client.query<{ status?: string }>(sql, values)).rows);
  const boss = (await connectTo<DB>(cleanUp, serviceUrl)).queue.boss();
  const [practice] = await registerPractices(ownerUrl, { count: 1, callbackUrl: "http://127.0.0.1:9" });
  const [endpointId, replayId] = [uuid(), uuid()];
  await run(
    `insert into webhook_endpoints (id, vendor_id, url, events, sealed_secret, created_at, updated_at)
     select $1, id, 'http://127.0.0.1:9', '{ping}', '1.unread', now(), now() from vendors limit 1`,
    endpointId,
  );
  await run(
    "insert into replays (id, recipient_id, kind, to_at, total, created_at, updated_at) values ($1, $2, 'failures', now(), 0, now(), now())",
    replayId,
    endpointId,
  );
  await run("update recipients set status = 'held', held_since = now() where id = $1", practice?.id);
  await run("revoke execute on function prepare_attempt_partitions from marketplace_service");
  await boss.insert(replays, [{ id: replayId, data: {} }]);

  await withClient(ownerUrl, async (client) => {
    await client.query("begin");
    await client.query("select from webhook_endpoints where id = $1 for update", [endpointId]);
    const worker = await startWorkerProcess(cleanUp, serviceUrl, { environment: { LOG_LEVEL: "warn" } });
    const isFetched = async (): Promise<boolean> =>
      (await run("select from pgboss.job where name = $1 and state = 'active'", replays)).length === 1;
    await eventually("the replay is in hand", 10_000, isFetched);
    await boss.insert(recoveries, [{ id: practice?.id ?? "", data: {} }]);
    // Nothing waits for it: once it is looked after, it is active again.
    await eventually("the recipient is looked after", 8_000, async () => {
      const [recipient] = await run("select status from recipients where id = $1", practice?.id);
      return recipient?.status === "active";
    });
    await eventually("the clock is wound", 8_000, async () => (await run("select from pgboss.schedule")).length === 4);
    const tells = (): boolean =>
      worker.logged.some(({ msg }) => String(msg).startsWith("the log's days can't be made"));
    await eventually("the log tells what is wrong", 8_000, tells);
    await client.query("commit");

    await run("grant execute on function prepare_attempt_partitions to marketplace_service");
    await eventually("the replay goes on", 40_000, async () => {
      const [replay] = await run("select status from replays where id = $1", replayId);
      return replay?.status === "done";
    });
    worker.child.kill("SIGTERM");
    assert.equal(await worker.ended, 0);
  });
});

test("a worker ranks the catalog by live subscriptions when its job is due", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const { database } = await connectTo<DB>(cleanUp, serviceUrl);
  await loadSubscribers(ownerUrl, "https://ehr.example");
  await withClient(ownerUrl, (client) => client.query("update app_popularity set popularity = 0"));
  await startWorkerProcess(cleanUp, serviceUrl, { environment: { LOG_LEVEL: "warn" } });
  // As the operator's guide says.
  await withClient(ownerUrl, (client) =>
    client.query(`insert into pgboss.job (name, data) values ('chores', '{"chore": "rank-catalog"}')`),
  );
  await eventually("popularity is counted", 20_000, async () => {
    const { popularity } = await database
      .selectFrom("app_popularity")
      .innerJoin("app_listings", "app_listings.app_id", "app_popularity.app_id")
      .select("app_popularity.popularity")
      .where("slug", "=", "northwind-scribe")
      .executeTakeFirstOrThrow();
    return popularity === 60;
  });
});
