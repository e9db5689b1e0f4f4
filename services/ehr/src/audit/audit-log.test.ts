import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { dropOldAuditEntries, prepareAuditPartitions } from "./audit-log-retention.ts";
import { recordAudit } from "./record-audit.ts";

const dayMs = 86_400_000;
const daysFromNow = (days: number): Date => new Date(Date.now() + days * dayMs);
const partitionOf = (day: Date): string => `audit_entries_${day.toISOString().slice(0, 10).replaceAll("-", "")}`;
const logger = createLogger({ service: "test", level: "silent" });

describe("the audit log is append-only", () => {
  const cleanUp = cleanUpAfter();
  const today = partitionOf(new Date());
  let urls: { ownerUrl: string; serviceUrl: string };
  let connected: Awaited<ReturnType<typeof connectAsService<DB>>>;
  before(async () => {
    urls = await cloneDatabase(cleanUp, "ehr");
    connected = await connectAsService<DB>(cleanUp, urls.serviceUrl);
    await recordAudit(connected.database, {
      actor: { issuer: "https://id.example", subject: "somebody", role: "operator", requestId: "request" },
      at: new Date(),
      onBehalfOf: "riverside-clinic",
      action: "test.entry",
      target: { kind: "test", id: "1" },
    });
  });
  /** The error message of a failed statement, or its result. */
  const refusal = (url: string, statement: string): Promise<string> =>
    withClient(url, (client) =>
      client.query(statement).then(
        ({ rowCount }) => `done: ${rowCount} rows`,
        (error: unknown) => (error as Error).message,
      ),
    );
  const changes = (table: string): string[] => [
    `update ${table} set actor_subject = 'somebody else'`,
    `update ${table} set action = 'x' where false`,
    `delete from ${table}`,
    `truncate ${table}`,
    `merge into ${table} using (values (1)) as one on true when matched then delete`,
  ];
  const partitions = async (): Promise<string[]> => {
    const { rows } = await withClient(urls.ownerUrl, (client) =>
      client.query<{ name: string }>(
        "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit_entries'::regclass order by 1",
      ),
    );
    return rows.map(({ name }) => name);
  };
  /** Runs as the owner: the function for the service uses the database's clock. */
  const prepareAt = (days: number): Promise<string> =>
    refusal(urls.ownerUrl, `select prepare_audit_partitions('${daysFromNow(days).toISOString().slice(0, 10)}')`);

  test("the service's role can't change the log or one of its partitions", async () => {
    const whole = [
      ...changes("audit_entries"),
      "drop table audit_entries",
      "alter table audit_entries disable trigger all",
    ];
    const day = [
      ...changes(today),
      `select from ${today}`,
      `drop table ${today}`,
      `insert into ${today} select * from audit_entries`,
    ];
    for (const statement of [...whole, ...day, "update audit_log_retention set least_days = 1"]) {
      assert.match(await refusal(urls.serviceUrl, statement), /permission denied|must be owner/, statement);
    }
  });

  test("a trigger rejects changes by the owner", async () => {
    for (const statement of [...changes("audit_entries"), ...changes(today)]) {
      assert.equal(await refusal(urls.ownerUrl, statement), "the audit log is append-only", statement);
    }
  });

  test("partitions exist for the next week, and preparing them twice changes nothing", async () => {
    await prepareAuditPartitions(connected.database, new Date());
    const prepared = await partitions();
    for (let days = -1; days <= 7; days += 1) assert.ok(prepared.includes(partitionOf(daysFromNow(days))));
    await prepareAuditPartitions(connected.database, new Date());
    assert.deepEqual(await partitions(), prepared);
    for (const day of ["0001-01-01", "20000-01-01", "infinity"]) {
      const statement = `select prepare_audit_partitions('${day}')`;
      assert.match(await refusal(urls.serviceUrl, statement), /is not a day of this log/, day);
    }
  });

  test("drops only partitions older than the owner's minimum of six years, whatever is configured", async () => {
    await prepareAt(-2_200);
    await prepareAt(-2_000);
    const drop = (launchLogDays: number, now = new Date()): Promise<number> =>
      dropOldAuditEntries({ database: connected.database, logger, launchLogDays }, now);
    assert.equal(await drop(3_000), 0, "it is kept for as long as is configured");
    assert.equal(await drop(1, daysFromNow(300_000)), 9, "the database's clock decides, and its floor");
    const left = await partitions();
    assert.ok(left.includes(partitionOf(daysFromNow(-2_001))));
    assert.ok(!left.some((name) => name < partitionOf(daysFromNow(-2_192))));
  });
});
