import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, beforeEach, describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "../database-schema.ts";
import { install } from "../installations/installations.test-support.ts";
import { connectionReports } from "../queues.ts";
import { type ReportDeps, reportConnections, workConnectionReports } from "./report-connections.ts";
import type { ConnectionReport } from "./request-report.ts";

const slug = "widely-installed";
const practices = 4_050;
const aliasOf = (nth: number): string => `practice-${String(nth).padStart(5, "0")}`;

describe("reports of a client that thousands of practices have", () => {
  const cleanUp = cleanUpAfter();
  let connected: ServiceConnection<DB>;
  let ownerUrl: string;
  let clientId: string;
  let told: string[];
  let statusOf: (orgAlias: string) => number;
  const rows = async <T extends object>(statement: string, ...values: unknown[]): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(statement, values))).rows;
  const unreported = async (): Promise<string[]> =>
    (
      await rows<{ org_alias: string }>(
        `select installations.org_alias from installations join clients using (app_slug)
         where reported_version is distinct from version order by installations.org_alias`,
      )
    ).map(({ org_alias }) => org_alias);
  const deps = (): ReportDeps => ({
    ...connected,
    putConnection({ orgAlias }) {
      told.push(orgAlias);
      return Promise.resolve(statusOf(orgAlias));
    },
  });
  before(async () => {
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    connected = await connectAsService<DB>(cleanUp, database.serviceUrl);
    // Only its app is needed here.
    await install(ownerUrl, { slug });
    await rows("delete from installations");
    await rows("alter table installations disable trigger all");
    await rows(
      `insert into installations (id, org_alias, app_slug, status, subscription_id, installed_at, updated_at)
       select gen_random_uuid(), 'practice-' || lpad(nth::text, 5, '0'), $1, 'active', gen_random_uuid(), now(), now()
       from generate_series(1, ${practices}) nth`,
      slug,
    );
    clientId = randomUUID();
    await rows(
      `insert into clients (id, app_slug, method, status, client_id, registered_sha256, version, created_at, updated_at)
       values ($1, $2, 'manual', 'ready', 'by-hand', repeat('a', 64), gen_random_uuid(), now(), now())`,
      clientId,
      slug,
    );
  });
  beforeEach(async () => {
    told = [];
    await rows("update clients set version = gen_random_uuid()");
  });

  test("don't wait for a practice whose reports are always refused", async () => {
    statusOf = (alias) => (alias === aliasOf(1) ? 403 : 200);
    let report: ConnectionReport | undefined = { clientId };
    const failed: ConnectionReport[] = [];
    let runs = 0;
    while (report !== undefined) {
      const result = await reportConnections(deps(), report);
      runs += 1;
      assert.equal(result.isUnfinished, false);
      if (result.failed !== undefined) failed.push({ clientId, range: result.failed });
      report = result.rest && { clientId, range: result.rest };
    }
    assert.equal(runs, 3, "2,000 practices in each");
    assert.equal(told.length, practices, "each once");
    assert.deepEqual(await unreported(), [aliasOf(1)]);
    assert.equal(failed.length, 1);
    told = [];
    const [retried] = failed;
    assert.deepEqual(await reportConnections(deps(), retried ?? assert.fail()), { isUnfinished: true });
    assert.deepEqual(told, [aliasOf(1)], "only what failed is repeated");
  });

  test("wait while the marketplace is unavailable", async () => {
    statusOf = () => 503;
    assert.deepEqual(await reportConnections(deps(), { clientId }), { isUnfinished: true });
    assert.equal(told.length, 2_000);
  });

  test("start over if the client has changed meanwhile", async () => {
    statusOf = () => 200;
    const { rest } = await reportConnections(deps(), { clientId });
    assert.equal(rest?.after, aliasOf(2_000));
    await rows("update clients set version = gen_random_uuid()");
    told = [];
    await reportConnections(deps(), { clientId, range: rest });
    assert.equal(told[0], aliasOf(1));
  });

  test("are continued by further jobs, beside the one that retries what failed", async () => {
    statusOf = (alias) => (alias === aliasOf(1) ? 403 : 200);
    const boss = connected.queue.boss();
    await workConnectionReports(boss, deps());
    await boss.send(connectionReports, { clientId });
    await eventually("all others are reported", 30_000, async () => {
      const left = await unreported();
      return left.length === 1 && left[0] === aliasOf(1);
    });
    await eventually("only one job is left", 30_000, async () => {
      const jobs = await rows<{ data: ConnectionReport }>(
        "select data from pgboss.job where name = $1 and state < 'completed'",
        connectionReports,
      );
      return jobs.length === 1 && jobs[0]?.data.range?.until === aliasOf(2_000);
    });
    statusOf = () => 200;
    await eventually("it is reported", 30_000, async () => {
      await rows("update pgboss.job set start_after = now() where state in ('created', 'retry')");
      return (await unreported()).length === 0;
    });
  });
});
