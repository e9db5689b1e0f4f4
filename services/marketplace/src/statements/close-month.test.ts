import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { insertBilledSubscriptions, readClosedStatements } from "@ehr-marketplace/tests/support/billed-subscriptions";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { Kysely } from "kysely";
import type { VendorContext } from "../access/vendor-context.ts";
import { chargeMonth } from "../billing/charge-month.ts";
import { beginsAt } from "../billing/charged-days.ts";
import { type Month, periodOf } from "../billing/month.ts";
import { totalOf } from "../billing/price.ts";
import type { DB } from "../database-schema.ts";
import { readAccounts } from "../subscriptions/read-accounts.ts";
import { readDailyUsage } from "../usage/read-daily-usage.ts";
import { openVendorCsv } from "./read-vendor-statements.ts";
import { runDueStatements } from "./run-statements.ts";
import { runAt } from "./statements.test-support.ts";
import { openStatementStream } from "./stream-statements.ts";

const months: Month[] = ["2027-01", "2027-02", "2027-03", "2027-04", "2027-05"];
const first = new Date("2027-01-01T00:00:00.000Z");
const now = new Date("2027-06-04T00:00:00.000Z");

describe("closing months", () => {
  const cleanUp = cleanUpAfter();
  let database: Kysely<DB>;
  let ownerUrl: string;
  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = cloned);
    ({ database } = await connectAsService<DB>(cleanUp, cloned.serviceUrl));
    await insertBilledSubscriptions(ownerUrl, 40, first);
    await runAt(database, now);
  });
  const rows = async <T extends object>(sql: string, ...values: unknown[]): Promise<T[]> =>
    (await withClient(ownerUrl, (client) => client.query<T>(sql, values))).rows;

  test("charges each subscription what its month costs", async () => {
    const ids = (await rows<{ id: string }>("select id from subscriptions order by id")).map(({ id }) => id);
    assert.ok(ids.length > 200);
    for (const month of months) {
      const charged = new Map(
        (
          await rows<{ id: string; total: string; lines: number }>(
            `select subscription_id as id, sum(amount)::text as total, count(*)::int as lines from closed_lines
             where month = $1 group by 1`,
            `${month}-01`,
          )
        ).map(({ id, ...row }) => [id, row]),
      );
      assert.ok(charged.size > 20, `${charged.size} charged in ${month}`);
      for (const id of ids) {
        const [account] = await readAccounts(database, [id], beginsAt(month));
        assert.ok(account !== undefined);
        const usage = await readDailyUsage(database, [id], periodOf(month));
        const lines = chargeMonth({ month, account, usage }).filter(({ amount }) => amount !== 0n);
        const expected = lines.length === 0 ? undefined : { total: String(totalOf(lines)), lines: lines.length };
        assert.deepEqual(charged.get(id), expected, `${id} in ${month}`);
      }
    }
  });

  test("what organisations owe, what vendors earn and what the operator streams is the same, for each currency", async () => {
    for (const month of months) {
      const ofOrganisations = await rows(
        "select currency, sum(amount)::text as total from closed_lines where month = $1 group by 1 order by 1",
        `${month}-01`,
      );
      assert.equal(ofOrganisations.length, 2);
      const ofVendors = await rows(
        "select currency, sum(gross)::text as total from closed_commissions where month = $1 group by 1 order by 1",
        `${month}-01`,
      );
      const ofApps = await rows(
        "select currency, sum(amount)::text as total from closed_totals where month = $1 group by 1 order by 1",
        `${month}-01`,
      );
      assert.deepEqual(ofVendors, ofOrganisations);
      assert.deepEqual(ofApps, ofOrganisations);
      const lines = await readStream(month);
      const end = lines.at(-1);
      assert.equal(end?.["type"], "end");
      assert.deepEqual(
        (end["totals"] as { currency: string; total: number }[]).map(({ currency, total }) => ({
          currency,
          total: String(total),
        })),
        ofOrganisations,
      );
      const statements = lines.filter(({ type }) => type === "statement");
      assert.equal(end["statements"], statements.length);
      for (const { total, lines: charged } of statements as unknown as {
        total: number;
        lines: { amount: number }[];
      }[]) {
        assert.equal(
          total,
          charged.reduce((sum, { amount }) => sum + amount, 0),
        );
      }
      for (const vendor of lines.filter(({ type }) => type === "vendor")) {
        const { gross, commission, commissionPercent, net } = vendor as unknown as Record<string, number>;
        assert.equal(commission, Math.round(((gross ?? 0) * (commissionPercent ?? 0)) / 100));
        assert.equal(net, (gross ?? 0) - (commission ?? 0));
      }
    }
  });

  const readStream = async (month: string): Promise<Record<string, unknown>[]> => {
    const stream = await openStatementStream({ database, clock: () => now }, month);
    const text = (await stream.toArray()).join("");
    return text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };

  test("statements can't be changed, neither by the service nor by the owner, nor can lines be added later", async () => {
    const closed = await readClosedStatements(ownerUrl);
    const statements = [
      "update closed_lines set amount = amount + 1",
      "delete from closed_lines",
      "truncate closed_lines",
      "update closed_totals set amount = 0",
      "delete from closed_totals",
      "update closed_commissions set commission = 0",
      "delete from closed_commissions",
      "update statement_months set status = 'closing', closed_at = null where status = 'closed'",
      "delete from statement_months",
      "truncate statement_months",
    ];
    for (const statement of statements) await assert.rejects(rows(statement), /can't change/, statement);
    for (const statement of [
      `insert into closed_lines select (json_populate_record(lines, '{"number": 99}')).* from closed_lines lines limit 1`,
      `insert into closed_totals select (json_populate_record(totals, '{"currency": "XXX"}')).* from closed_totals totals limit 1`,
      `insert into closed_commissions select (json_populate_record(c, '{"currency": "XXX"}')).* from closed_commissions c limit 1`,
    ]) {
      await assert.rejects(rows(statement), /isn't being closed/, statement);
    }
    const insertMonth = (month: string, status: string) =>
      rows(
        "insert into statement_months (month, status, phase, started_at, closed_at) values ($1, $2, 'done', now(), $3)",
        month,
        status,
        status === "closed" ? now : null,
      );
    for (const [month, status] of [
      ["2026-12-01", "open"],
      ["2027-07-01", "closing"],
      ["2027-07-01", "closed"],
      ["2027-07-01", "skipped"],
      ["2027-08-01", "open"],
    ] as const) {
      await assert.rejects(insertMonth(month, status), /the next month is an open one/, `${month} ${status}`);
    }
    for (const change of ["status = 'closed', closed_at = now()", "status = 'skipped'"]) {
      const skip = rows(`update statement_months set phase = 'done', ${change} where status = 'open'`);
      await assert.rejects(skip, /a month is open, then closing, then closed/, change);
    }
    const { rows: granted } = await withClient(ownerUrl, (client) =>
      client.query<{ privilege: string }>(
        `select distinct privilege_type as privilege from information_schema.role_table_grants
         where grantee = 'marketplace_service' and table_name in ('closed_lines', 'closed_totals', 'closed_commissions') order by 1`,
      ),
    );
    assert.deepEqual(
      granted.map(({ privilege }) => privilege),
      ["INSERT", "SELECT"],
    );
    assert.equal(await readClosedStatements(ownerUrl), closed);
  });

  test("running once more changes nothing, and neither do new names or a new commission", async () => {
    const closed = await readClosedStatements(ownerUrl);
    await rows("update vendors set commission_percent = 50");
    await rows("update apps set name = name || ' 2'");
    await runAt(database, new Date(now.getTime() + 3_600_000));
    assert.equal(await readClosedStatements(ownerUrl), closed);
  });

  test("a month is closed at the start of the fourth day after it, and not before", async () => {
    const statusOf = async (month: string) =>
      (await rows<{ status: string }>("select status from statement_months where month = $1", `${month}-01`))[0]
        ?.status;
    assert.equal(await statusOf("2027-06"), "open");
    await runAt(database, new Date("2027-07-03T23:59:59.999Z"));
    assert.deepEqual([await statusOf("2027-06"), await statusOf("2027-07")], ["open", "open"]);
    assert.ok((await rows("select from open_lines where month = '2027-06-01'")).length > 0);
    await runAt(database, new Date("2027-07-04T00:00:00.000Z"));
    assert.equal(await statusOf("2027-06"), "closed");
    assert.deepEqual(await rows("select from open_lines where month = '2027-06-01'"), []);
    assert.ok((await rows("select from open_lines where month = '2027-07-01'")).length > 0);
  });

  test("a run that passes midnight turns to the earlier month, which is due first, and ends", async () => {
    // July is charged before midnight. The fourth time that August asks for the time, it is the next day.
    let asked = 0;
    let isJulyCharged = false;
    const write = (line: string): void => {
      if (line.includes("charged an open month") && line.includes("2027-07")) isJulyCharged = true;
    };
    const clock = (): Date => {
      if (isJulyCharged) asked += 1;
      assert.ok(asked < 2_000, "the run doesn't end");
      return new Date(asked < 4 ? "2027-08-01T23:59:59.000Z" : "2027-08-02T00:00:00.000Z");
    };
    await runDueStatements(
      {
        database,
        clock,
        logger: createLogger({ service: "test", level: "info" }, { write }),
        stopped: new AbortController().signal,
      },
      { batchSize: 10, pauseAfter: () => 0 },
    );
    assert.ok(asked > 4, "midnight has passed");
    const charged = await rows<{ month: string; phase: string; day: string }>(
      `select to_char(month, 'YYYY-MM') as month, phase, to_char(started_at at time zone 'UTC', 'MM-DD') as day from statement_months
       where status = 'open' order by 1`,
    );
    assert.deepEqual(charged, [
      { month: "2027-07", phase: "done", day: "08-02" },
      { month: "2027-08", phase: "done", day: "08-02" },
    ]);
  });

  test("streams of a month that is calculated anew or closed meanwhile break off", async () => {
    const open = async (at: string) => {
      const deps = { database, clock: () => new Date(at) };
      return [
        await openStatementStream(deps, "2027-08"),
        await openVendorCsv(deps, { vendor: "northwind-health" } as VendorContext, "2027-08"),
      ];
    };
    for (const [at, next] of [
      ["2027-08-02T12:00:00.000Z", "2027-08-03T00:00:00.000Z"],
      ["2027-09-03T12:00:00.000Z", "2027-09-04T00:00:00.000Z"],
    ] as const) {
      await runAt(database, new Date(at));
      for (const stream of await open(at)) assert.ok((await stream.toArray()).length > 0);
      const streams = await open(at);
      await runAt(database, new Date(next));
      for (const stream of streams) await assert.rejects(stream.toArray(), /calculated anew while it was read/);
    }
  });

  test("any number of workers, whatever their batches, close to the same bytes", async () => {
    const source = await cloneDatabase(cleanUp, "demo");
    await insertBilledSubscriptions(source.ownerUrl, 40, first);
    const [shared, single] = [
      await cloneDatabase(cleanUp, "demo", { source }),
      await cloneDatabase(cleanUp, "demo", { source }),
    ];
    const close = async (serviceUrl: string, batchSize: number): Promise<void> =>
      runAt((await connectAsService<DB>(cleanUp, serviceUrl)).database, now, { batchSize });
    await Promise.all([7, 50, 1_000].map((batchSize) => close(shared.serviceUrl, batchSize)));
    await close(single.serviceUrl, 50);
    const closed = await readClosedStatements(single.ownerUrl);
    assert.ok(closed.split("\n").length > 500);
    assert.equal(await readClosedStatements(shared.ownerUrl), closed);
  });
});
