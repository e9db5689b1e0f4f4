import assert from "node:assert/strict";
import { test } from "node:test";
import { loadSubscribers } from "@ehr-marketplace/dev/demo-data";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import { startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";
import { v7 as uuid } from "uuid";
import type { DB } from "./database-schema.ts";
import { recoveries, replays } from "./queue/queues.ts";

test("a worker registers scheduled jobs and processes recipients while maintenance fails and a replay is blocked", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const run = (sql: string, ...values: unknown[]): Promise<{ status?: string }[]> =>
    withClient(ownerUrl, async (client) => (await client.query<{ status?: string }>(sql, values)).rows);
  const boss = (await connectAsService<DB>(cleanUp, serviceUrl)).queue.boss();
  const [practice] = await registerPractices(ownerUrl, { count: 1, callbackUrl: "http://127.0.0.1:9" });
  const [endpointId, replayId] = [uuid(), uuid()];
  await run(
    `insert into webhook_endpoints (id, vendor_id, url, events, encrypted_secret, created_at, updated_at)
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
    await eventually("the replay's job is active", 30_000, isFetched);
    await boss.insert(recoveries, [{ id: practice?.id ?? "", data: {} }]);
    // It has no waiting deliveries, so the worker reactivates it.
    await eventually("the recipient is active", 30_000, async () => {
      const [recipient] = await run("select status from recipients where id = $1", practice?.id);
      return recipient?.status === "active";
    });
    await eventually(
      "the scheduled jobs are registered",
      30_000,
      async () => (await run("select from pgboss.schedule")).length === 9,
    );
    const hasFailureLogged = (): boolean =>
      worker.logEntries.some(({ msg }) => String(msg).startsWith("failed to run maintenance at startup"));
    await eventually("the log has the failure", 30_000, hasFailureLogged);
    await client.query("commit");

    await run("grant execute on function prepare_attempt_partitions to marketplace_service");
    await eventually("the replay is done", 40_000, async () => {
      const [replay] = await run("select status from replays where id = $1", replayId);
      return replay?.status === "done";
    });
    worker.child.kill("SIGTERM");
    assert.equal(await worker.exited, 0);
  });
});

test("a worker ranks the catalog by live subscriptions when its job is due", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const { database } = await connectAsService<DB>(cleanUp, serviceUrl);
  await loadSubscribers(ownerUrl, "https://ehr.example");
  await withClient(ownerUrl, (client) => client.query("update app_popularity set popularity = 0"));
  await startWorkerProcess(cleanUp, serviceUrl, { environment: { LOG_LEVEL: "warn" } });
  // The command of the operator's guide.
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
