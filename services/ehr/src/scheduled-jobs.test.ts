import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type Queue, startScheduledJobs } from "@ehr-marketplace/service-kit/queue";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { startEhr } from "@ehr-marketplace/tests/support/ehr";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "./database-schema.ts";
import { deleteRemovedInstallations } from "./installations/installation-retention.ts";
import { deleteOldDeliveries } from "./marketplace-events/receive-event.ts";
import { scheduledJobs } from "./queues.ts";
import { createScheduledWork, type MaintenanceDeps } from "./scheduled-jobs.ts";

const credentials = {
  MARKETPLACE_TOKEN_URL: "http://127.0.0.1:9/token",
  MARKETPLACE_CLIENT_ID: "ehr-service",
  MARKETPLACE_CLIENT_SECRET: "unused",
};

describe("scheduled jobs", () => {
  const cleanUp = cleanUpAfter();
  let ownerUrl: string;
  let queue: Queue;
  before(async () => {
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    // Two processes of the same service: each job runs in one of them.
    await startEhr(cleanUp, database.serviceUrl, credentials);
    await startEhr(cleanUp, database.serviceUrl, credentials);
    ({ queue } = await connectAsService<DB>(cleanUp, database.serviceUrl));
  });
  const rows = async <T extends object>(sql: string): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(sql))).rows;
  const start = (chore: string): Promise<unknown> => queue.boss().send(scheduledJobs, { chore });

  test("delete expired launch contexts every minute, run maintenance and refresh apps and clients every hour, look at the marketplace's epoch every five minutes, and reconcile every night, missed nights included", async () => {
    await eventually(
      "all jobs are scheduled",
      20_000,
      async () => (await rows("select from pgboss.schedule")).length === 6,
    );
    const wound = await rows("select key, cron, options ->> 'missed' as missed from pgboss.schedule order by key");
    assert.deepEqual(wound, [
      { key: "expire-contexts", cron: "* * * * *", missed: "skip" },
      { key: "keep-house", cron: "11 * * * *", missed: "skip" },
      { key: "reconcile", cron: "23 1 * * *", missed: "once" },
      { key: "refresh-apps", cron: "41 * * * *", missed: "skip" },
      { key: "refresh-clients", cron: "51 * * * *", missed: "skip" },
      { key: "watch-epoch", cron: "*/5 * * * *", missed: "skip" },
    ]);
  });

  test("delete expired launch contexts, and no others", async () => {
    await rows(`insert into launch_contexts
      select sha256(nth::text::bytea), gen_random_uuid(), 'riverside-clinic', 'app', 'somebody', gen_random_uuid(), null,
        now() + nth * interval '5 minutes' from unnest(array[-1, 1]) as nth`);
    await start("expire-contexts");
    const kept = () => rows<{ live: boolean }>("select expires_at > now() as live from launch_contexts");
    await eventually("it is forgotten", 20_000, async () => (await kept()).length === 1);
    assert.deepEqual(await kept(), [{ live: true }]);
  });

  test("delete deliveries after 45 days, and create the launch log's partitions", async () => {
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

  test("delete secrets whose overlap has ended, and no others", async () => {
    await rows(`update organisations set encrypted_previous_secret = encrypted_secret,
      previous_until = now() + case alias when 'riverside-clinic' then interval '0' else interval '1 hour' end`);
    await start("keep-house");
    const kept = () =>
      rows<{ alias: string }>(
        "select alias from organisations where encrypted_previous_secret is not null or previous_until is not null",
      );
    await eventually("the ended one is forgotten", 20_000, async () => (await kept()).length === 1);
    assert.deepEqual(await kept(), [{ alias: "hilltop-family-practice" }]);
  });

  test("send one reconciliation job for each organisation every night, spread over hours", async () => {
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

describe("starting the scheduled jobs", () => {
  const cleanUp = cleanUpAfter();
  const start = (deps: Omit<MaintenanceDeps, "stopped">, workers: (() => Promise<void>)[] = []): void => {
    const stopping = new AbortController();
    const maintenance = { ...deps, stopped: stopping.signal };
    const started = startScheduledJobs(maintenance, createScheduledWork(maintenance), workers);
    cleanUp(() => {
      stopping.abort();
      return started;
    });
  };
  const prepare = async () => {
    const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "ehr");
    const logged: { level: string; msg: string; step?: string }[] = [];
    const logger = createLogger({ service: "test", level: "info" }, { write: (line) => logged.push(JSON.parse(line)) });
    const connected = await connectAsService<DB>(cleanUp, serviceUrl, { statementTimeoutMs: 5_000 });
    const rows = async <T extends object>(sql: string): Promise<T[]> =>
      (await withClient(ownerUrl, (client) => client.query<T>(sql))).rows;
    return { ...connected, logger, logged, launchLogDays: 2_192, ownerUrl, rows };
  };
  const scheduled = async (rows: (sql: string) => Promise<object[]>): Promise<number> =>
    (await rows("select from pgboss.schedule")).length;

  test("logs a failed maintenance step, and runs the others", async () => {
    const { logged, rows, ...deps } = await prepare();
    await rows("revoke execute on function prepare_launch_partitions, drop_oldest_launches from ehr_service");
    await rows("revoke delete on applied_deliveries from ehr_service");
    await rows("update organisations set encrypted_previous_secret = encrypted_secret, previous_until = now()");
    const works: string[] = [];
    start({ ...deps, watchEpoch: async () => undefined }, [async () => void works.push("started")]);
    await eventually("the first failure is logged", 20_000, async () => logged.length === 1);
    await eventually("all is scheduled", 20_000, async () => (await scheduled(rows)) === 6 && works.length === 1);
    assert.deepEqual(works, ["started"]);
    await deps.queue.boss().send(scheduledJobs, { chore: "keep-house" });
    await eventually("the other steps have run", 20_000, async () => {
      const left = await rows("select from organisations where previous_until is not null");
      return left.length === 0;
    });
    assert.deepEqual(
      logged.map(({ level, step }) => [level, step]),
      [
        ["error", "create launch log partitions"],
        ["error", "create launch log partitions"],
        ["error", "drop old launch log partitions"],
        ["error", "delete old deliveries"],
      ],
    );
  });

  test("warns at startup if LAUNCH_LOG_DAYS is below the database's minimum, and drops nothing", async () => {
    const { logged, rows, ...deps } = await prepare();
    await rows("select prepare_launch_partitions('2020-01-01')");
    const days = () => rows("select inhrelid from pg_inherits where inhparent = 'launches'::regclass order by 1");
    const earlier = await days();
    start({ ...deps, launchLogDays: 30, watchEpoch: async () => undefined });
    await eventually("the warning is logged", 20_000, async () => logged.length === 1);
    assert.match(logged[0]?.msg ?? "", /^LAUNCH_LOG_DAYS is below the database/);
    assert.deepEqual(await days(), earlier);
  });

  test("schedules no reconciliation if none is configured, and removes an earlier schedule", async () => {
    const { rows, ...deps } = await prepare();
    start({ ...deps, watchEpoch: undefined });
    await eventually("all jobs are scheduled", 20_000, async () => (await scheduled(rows)) === 4);
    const boss = deps.queue.boss();
    const id = await boss.send(scheduledJobs, { chore: "reconcile" });
    await eventually("the job is completed", 20_000, async () => {
      const [job] = await boss.findJobs(scheduledJobs, { id: id ?? "" });
      return job?.state === "completed";
    });
    assert.deepEqual(await rows("select from pgboss.job where name = 'reconciliations'"), []);
  });

  test("deletes any number of old rows, but none that is locked by a concurrent change", async () => {
    const { rows, database, ownerUrl } = await prepare();
    const slugs = "select 'app-' || nth as slug, nth from generate_series(1, 5002) as nth";
    await rows(`insert into apps (slug, updated_at) select slug, now() from (${slugs}) as of`);
    await rows(`insert into subscriptions
      select 'riverside-clinic', lpad(nth::text, 32, '0')::uuid, slug, 'cancelled', now() from (${slugs}) as of`);
    await rows(`insert into installations
        (id, org_alias, app_slug, status, subscription_id, installed_at, updated_at, removed_at)
      select gen_random_uuid(), 'riverside-clinic', slug, 'removed', lpad(nth::text, 32, '0')::uuid, now(), now(),
        now() - interval '31 days' from (${slugs}) as of`);
    await rows(`insert into applied_deliveries
      select 'riverside-clinic', slug, now() - interval '46 days' from (${slugs}) as of`);
    assert.equal(await deleteOldDeliveries(database, new Date()), 5_002);
    await withClient(ownerUrl, async (client) => {
      await client.query("begin");
      await client.query("update installations set status = 'active', removed_at = null where app_slug = 'app-1'");
      assert.equal(await deleteRemovedInstallations(database, new Date()), 5_001);
      await client.query("commit");
    });
    assert.deepEqual(await rows("select app_slug from installations"), [{ app_slug: "app-1" }]);
  });
});
