import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { dropOldLaunches, prepareLaunchPartitions } from "./launch-log-retention.ts";
import {
  findLoggedLaunches,
  install,
  type LaunchEhr,
  member,
  riverside,
  startLaunchEhr,
} from "./launches.test-support.ts";

const dayMs = 86_400_000;
const daysFromNow = (days: number): Date => new Date(Date.now() + days * dayMs);
const partitionOf = (day: Date): string => `launches_${day.toISOString().slice(0, 10).replaceAll("-", "")}`;

function partitionsIn(ownerUrl: string): Promise<string[]> {
  return withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'launches'::regclass order by 1",
    );
    return rows.map(({ name }) => name);
  });
}

/** The error message of a failed statement, or its result. */
const refusal = (url: string, statement: string): Promise<string> =>
  withClient(url, (client) =>
    client.query(statement).then(
      ({ rowCount }) => `done: ${rowCount} rows`,
      (error: unknown) => (error as Error).message,
    ),
  );

const prepareAsOwner = (ownerUrl: string, days: number): Promise<string> =>
  refusal(ownerUrl, `select prepare_launch_partitions('${daysFromNow(days).toISOString().slice(0, 10)}')`);

describe("the launch log is append-only", () => {
  const cleanUp = cleanUpAfter();
  const today = partitionOf(new Date());
  let ehr: LaunchEhr;
  let slug: string;
  before(async () => {
    ehr = await startLaunchEhr(cleanUp);
    slug = await install(ehr.ownerUrl);
    await ehr.launch(slug, { patientId: randomUUID() });
  });
  const changes = (table: string): string[] => [
    `update ${table} set user_subject = 'somebody else'`,
    `update ${table} set patient_id = null where false`,
    `delete from ${table}`,
    `truncate ${table}`,
    `merge into ${table} using (values (1)) as one on true when matched then delete`,
  ];
  const unchanged = async (work: () => Promise<unknown>): Promise<void> => {
    const earlier = await findLoggedLaunches(ehr.ownerUrl, slug);
    assert.equal(earlier.length, 1);
    await work();
    assert.deepEqual(await findLoggedLaunches(ehr.ownerUrl, slug), earlier);
  };

  test("the service's role can't change the log or one of its partitions", () =>
    unchanged(async () => {
      for (const statement of [
        ...changes("launches"),
        "drop table launches",
        "alter table launches disable trigger all",
      ])
        assert.match(await refusal(ehr.serviceUrl, statement), /permission denied|must be owner/, statement);
      for (const statement of [...changes(today), `select from ${today}`, `drop table ${today}`])
        assert.match(await refusal(ehr.serviceUrl, statement), /permission denied|must be owner/, statement);
      assert.match(await refusal(ehr.serviceUrl, `insert into ${today} select * from launches`), /permission denied/);
    }));

  test("a trigger rejects changes by the owner", () =>
    unchanged(async () => {
      for (const statement of [...changes("launches"), ...changes(today)])
        assert.equal(await refusal(ehr.ownerUrl, statement), "the launch log is append-only", statement);
    }));

  test("drops no current day with a clock that is ahead and a retention of 0 days", () =>
    unchanged(async () => {
      for (const [day, kept] of [
        ["2999-01-01", 2_192],
        ["2999-01-01", -1_000_000],
        ["infinity", null],
        [null, 1],
        ["2026-01-01 BC", 1],
        ["-infinity", 1],
        [new Date().toISOString().slice(0, 10), 0],
      ] as const)
        await withClient(ehr.serviceUrl, async (client) => {
          const { rows } = await client.query("select drop_oldest_launches($1, $2) as dropped", [day, kept]);
          assert.deepEqual(rows, [{ dropped: null }]);
        });
    }));

  test("functions of the owner don't use temporary tables of the service", () =>
    unchanged(async () => {
      await refusal(
        ehr.ownerUrl,
        "do $$ begin execute format('grant temporary on database %I to ehr_service', current_database()); end $$",
      );
      await withClient(ehr.serviceUrl, async (client) => {
        await client.query("create temporary table launches (like public.launches) partition by range (launched_at)");
        await client.query("create temporary table launch_log_retention as select true as only_row, 1 as least_days");
        await client.query("select prepare_launch_partitions('2031-01-01')");
        assert.ok((await partitionsIn(ehr.ownerUrl)).includes("launches_20310101"));
        await prepareAsOwner(ehr.ownerUrl, -100);
        const { rows } = await client.query("select drop_oldest_launches(current_date, 1) as dropped");
        assert.deepEqual(rows, [{ dropped: null }]);
      });
    }));

  test("creates only partitions with an unambiguous name", async () => {
    for (const day of ["2026-08-20 BC", "0001-01-01", "12026-08-20", "infinity"])
      assert.match(await refusal(ehr.serviceUrl, `select prepare_launch_partitions('${day}')`), /is not a day of this/);
  });

  test("the API returns 405 for changes of the log", () =>
    unchanged(async () => {
      for (const method of ["PUT", "PATCH", "DELETE", "POST"]) {
        const response = await ehr.as("operator", `/app-installations/${slug}/launches`, {
          method,
          headers: { "x-org-alias": riverside },
        });
        assert.equal(response.headers.get("allow"), "GET, HEAD");
        await assertFailure(response, 405);
      }
    }));

  test("launches stay after the installation and the app are deleted", () =>
    unchanged(async () => {
      await withClient(ehr.ownerUrl, (client) => client.query("delete from installations where app_slug = $1", [slug]));
    }));
});

describe("the log's partitions", () => {
  const cleanUp = cleanUpAfter();
  /** Drops partitions older than the given days; with the log entries that it writes. */
  const keeping = async (launchLogDays: number) => {
    const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "ehr");
    const { database } = await connectAsService<DB>(cleanUp, serviceUrl, { statementTimeoutMs: 5_000 });
    const logged: { level: string; msg: string }[] = [];
    const logger = createLogger({ service: "test", level: "info" }, { write: (line) => logged.push(JSON.parse(line)) });
    return { database, logger, logged, launchLogDays, ownerUrl, serviceUrl };
  };

  test("are created for the next week by concurrent callers", async () => {
    const { database, ownerUrl } = await keeping(2_192);
    const inAMonth = daysFromNow(30);
    await Promise.all(Array.from({ length: 8 }, () => prepareLaunchPartitions(database, inAMonth)));
    const made = await partitionsIn(ownerUrl);
    for (let days = 29; days <= 37; days += 1) assert.ok(made.includes(partitionOf(daysFromNow(days))), String(days));
    assert.equal(new Set(made).size, made.length);
  });

  test("are dropped exactly to the day of the retention", async () => {
    const old = await keeping(2_192);
    for (const days of [-2_200, -2_192, -100]) await prepareLaunchPartitions(old.database, daysFromNow(days));
    const earlier = await partitionsIn(old.ownerUrl);
    const oldest = partitionOf(daysFromNow(-2_192));
    const kept = earlier.filter((name) => name >= oldest);
    assert.ok(kept.length < earlier.length && earlier.includes(oldest));
    assert.equal(await dropOldLaunches(old, new Date()), earlier.length - kept.length);
    assert.deepEqual(await partitionsIn(old.ownerUrl), kept);
    assert.deepEqual(
      old.logged.map(({ msg }) => msg),
      ["dropped old log partitions"],
    );
  });

  test("are dropped ten at a time, the oldest first, so that a wrong retention loses little", async () => {
    const old = await keeping(2_200);
    for (const days of [-3_000, -2_900]) await prepareLaunchPartitions(old.database, daysFromNow(days));
    const earlier = await partitionsIn(old.ownerUrl);
    assert.equal(await dropOldLaunches(old, new Date()), 10);
    assert.deepEqual(await partitionsIn(old.ownerUrl), earlier.slice(10));
    assert.equal(await dropOldLaunches(old, new Date()), 8);
    assert.equal(await dropOldLaunches(old, new Date()), 0);
  });

  test("are kept for six years whatever is configured, unless the owner changes the minimum", async () => {
    const short = await keeping(1);
    for (const days of [-2_197, -2_188, -100]) await prepareLaunchPartitions(short.database, daysFromNow(days));
    const earlier = await partitionsIn(short.ownerUrl);
    const sixYears = earlier.filter((name) => name >= partitionOf(daysFromNow(-2_192)));
    assert.equal(await dropOldLaunches(short, new Date()), earlier.length - sixYears.length);
    assert.deepEqual(await partitionsIn(short.ownerUrl), sixYears);
    assert.equal(await refusal(short.ownerUrl, "update launch_log_retention set least_days = 103"), "done: 1 rows");
    await dropOldLaunches(short, new Date());
    await dropOldLaunches(short, new Date());
    const kept = sixYears.filter((name) => name >= partitionOf(daysFromNow(-103)));
    assert.ok(kept.length < sixYears.length);
    assert.deepEqual(await partitionsIn(short.ownerUrl), kept);
    // Without a minimum nothing may be dropped.
    await refusal(short.ownerUrl, "delete from launch_log_retention");
    assert.match(await refusal(short.serviceUrl, "select drop_oldest_launches(current_date, 1)"), /no rows/);
  });

  test("accept launches while others are created and dropped, also during a full read", async () => {
    // The process itself drops no partitions.
    const ehr = await startLaunchEhr(cleanUp, { LAUNCH_LOG_DAYS: "36500" });
    const slug = await install(ehr.ownerUrl);
    const { database, logger } = await connectAsService<DB>(cleanUp, ehr.serviceUrl, { statementTimeoutMs: 5_000 });
    const old = { database, logger, launchLogDays: 2_192 };
    await prepareLaunchPartitions(database, daysFromNow(-3_000));
    const dueThen = partitionOf(daysFromNow(-3_000));
    await withClient(ehr.ownerUrl, async (reader) => {
      // A backup takes hours: a statement that waits for it would block all launches behind it.
      await reader.query("begin");
      await reader.query("select count(*) from launches");
      await prepareLaunchPartitions(database, daysFromNow(60));
      const dropping = dropOldLaunches(old, new Date());
      await ehr.launch(slug);
      assert.equal(await dropping, 0);
      await reader.query("rollback");
    });
    const made = await partitionsIn(ehr.ownerUrl);
    assert.ok(made.includes(partitionOf(daysFromNow(60))) && made.includes(dueThen));
    assert.equal(await dropOldLaunches(old, new Date()), 9);
    assert.ok(!(await partitionsIn(ehr.ownerUrl)).includes(dueThen));
  });

  test("are created during a launch if missing, also for concurrent launches", async () => {
    const ehr = await startLaunchEhr(cleanUp);
    const slug = await install(ehr.ownerUrl);
    await withClient(ehr.ownerUrl, async (client) => {
      for (const name of await partitionsIn(ehr.ownerUrl)) await client.query(`drop table ${name}`);
    });
    await Promise.all(Array.from({ length: 10 }, () => ehr.launch(slug)));
    assert.deepEqual(
      (await findLoggedLaunches(ehr.ownerUrl, slug)).map((row) => row.user_subject),
      Array.from({ length: 10 }, () => member),
    );
  });
});
