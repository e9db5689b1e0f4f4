import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { UsageRecord } from "@ehr-marketplace/contracts";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, rounds, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import fc from "fast-check";
import type { VendorContext } from "../access/vendor-context.ts";
import { chargeMonth } from "../billing/charge-month.ts";
import { periodOf } from "../billing/month.ts";
import { totalOf } from "../billing/price.ts";
import { highUsageLimits } from "../billing/usage-limits.test-support.ts";
import type { DB } from "../database-schema.ts";
import { readAccounts } from "../subscriptions/read-accounts.ts";
import { readDailyUsage } from "../usage/read-daily-usage.ts";
import { reportUsage } from "../usage/report-usage.ts";
import { readVendorStatement } from "./read-vendor-statements.ts";
import { listMonths } from "./statement-month.ts";
import { runAt } from "./statements.test-support.ts";

const day = 86_400_000;
const start = Date.parse("2027-01-05T00:00:00.000Z");
const vendor = {
  caller: {
    issuer: "https://idp.example",
    subject: "developer",
    roles: new Set(["vendor-developer"]),
    vendors: new Set(["northwind-health"]),
    organisations: new Map(),
    ignoredRoleReasons: [],
  },
  requestId: "test",
  vendor: "northwind-health",
  role: "vendor-developer",
} as unknown as VendorContext;

/** What happens at a time: the worker runs, or the vendor reports. */
interface Step {
  /** After the start. */
  minutes: number;
  report: { minutesAgo: number; quantity: number; number: number; isVoid: boolean }[] | null;
}

/** A month after which usage is reported, most often a few days late. */
const minutesAgo = fc.oneof(
  fc.integer({ min: 0, max: 10 * 1_440 }),
  fc.integer({ min: 0, max: 35 * 1_440 - 1 }),
  fc.constantFrom(0, 34 * 1_440, 35 * 1_440 - 1),
);
const report = fc.array(
  fc.record({ minutesAgo, quantity: fc.nat({ max: 2_000 }), number: fc.nat({ max: 8 }), isVoid: fc.boolean() }),
  { minLength: 1, maxLength: 6 },
);
const step: fc.Arbitrary<Step> = fc.record({
  // In the first days of a month, when months are being closed, more happens.
  minutes: fc.oneof(
    fc.integer({ min: 0, max: 160 * 1_440 }),
    fc
      .tuple(fc.constantFrom(30, 58, 89, 119, 150), fc.integer({ min: -3 * 1_440, max: 5 * 1_440 }))
      .map(([days, offset]) => Math.max(0, (days - 4 + 3) * 1_440 + offset)),
  ),
  report: fc.option(report, { freq: 3 }),
});

describe("corrections", () => {
  const cleanUp = cleanUpAfter();

  async function prepare(
    source?: Awaited<ReturnType<typeof cloneDatabase>>,
    { amount, included } = { amount: 0.37, included: 100 },
  ) {
    const cloned = await cloneDatabase(cleanUp, "demo", { source });
    const { serviceUrl, ownerUrl } = cloned;
    if (source !== undefined) return { cloned, ownerUrl, connected: await connectAsService<DB>(cleanUp, serviceUrl) };
    const [practice] = await registerPractices(ownerUrl, { count: 1, callbackUrl: null, prefix: "late" });
    await withClient(ownerUrl, async (client) => {
      for (let at = start; at < start + 170 * day; at += 40 * day) {
        await client.query("select prepare_usage_partitions($1)", [new Date(at).toISOString().slice(0, 10)]);
      }
      await client.query(
        `with plan as (
           insert into pricing_plans (id, app_id, position, name, description, pricing_model, currency, amount, interval, metric, aggregation,
             included_units, published_at)
           select mint_uuid(), id, 99, 'Notes', '', 'USAGE', 'USD', $3, 'MONTH', 'notes', 'SUM', $4, now() from apps
           where slug = 'northwind-scribe' returning id, app_id
         )
         insert into subscriptions (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, revision, fhir_scopes)
         select mint_uuid(), $1, app_id, id, 'active', $2, $2, 1, '' from plan`,
        [practice?.id, new Date(start), amount, included],
      );
    });
    return { cloned, ownerUrl, connected: undefined };
  }

  async function readSubscription(ownerUrl: string): Promise<string> {
    const { rows } = await withClient(ownerUrl, (client) =>
      client.query<{ id: string }>(
        "select s.id from subscriptions s join organisations on organisations.id = organisation_id where alias = 'late-1'",
      ),
    );
    return rows[0]?.id ?? assert.fail("no subscription");
  }

  test("whatever is reported or taken back when, all statements together charge what each month costs in the end", async () => {
    const source = (await prepare()).cloned;
    let corrections = 0;
    const check = async (given: Step[]): Promise<void> => {
      const { ownerUrl, connected } = await prepare(source);
      const { database, queue } = connected ?? assert.fail();
      const id = await readSubscription(ownerUrl);
      for (const [index, { minutes, report: reported }] of given.toSorted((a, b) => a.minutes - b.minutes).entries()) {
        // A second apart, so that the rate isn't exceeded.
        const now = new Date(start + minutes * 60_000 + index * 1_000);
        if (reported === null) {
          await runAt(database, now);
          continue;
        }
        const records = reported.map(({ minutesAgo: ago, number, quantity, isVoid }): UsageRecord => {
          const occurredAt = new Date(Math.max(start, now.getTime() - ago * 60_000)).toISOString();
          return { id: `r${number}`, occurredAt, ...(isVoid ? { void: true } : { metric: "notes", quantity }) };
        });
        await reportUsage({ database, queue, usageLimits: highUsageLimits, clock: () => now }, vendor, id, records);
      }
      await runAt(database, new Date("2027-10-04T00:00:00.000Z"));
      const { rows } = await withClient(ownerUrl, (client) =>
        client.query<{ month: string; total: string; corrections: number }>(
          `select to_char(coalesce(adjusts, month), 'YYYY-MM') as month, sum(amount)::text as total, count(adjusts)::int as corrections
           from closed_lines where subscription_id = $1 group by 1`,
          [id],
        ),
      );
      const charged = new Map(rows.map((row) => [row.month, row]));
      for (const month of listMonths("2027-01", "2027-09")) {
        const [account] = await readAccounts(database, [id], new Date(0));
        const usage = await readDailyUsage(database, [id], periodOf(month));
        const cost = totalOf(chargeMonth({ month, account: account ?? assert.fail(), usage }));
        assert.equal(charged.get(month)?.total ?? "0", String(cost), month);
        corrections += charged.get(month)?.corrections ?? 0;
      }
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 40 }), check), {
      numRuns: rounds(2, 60),
    });
    assert.ok(corrections > 0, "some months were corrected");
  });

  test("a correction is a line of the next statement, a credit has a negative quantity, and both name the month", async () => {
    const { cloned, ownerUrl } = await prepare();
    const { database, queue } = await connectAsService<DB>(cleanUp, cloned.serviceUrl);
    const id = await readSubscription(ownerUrl);
    const reportAt = (at: string, ...records: UsageRecord[]) =>
      reportUsage({ database, queue, usageLimits: highUsageLimits, clock: () => new Date(at) }, vendor, id, records);
    const used = { metric: "notes", quantity: 1_100 };
    await reportAt("2027-01-20T00:00:00.000Z", { id: "a", occurredAt: "2027-01-20T00:00:00.000Z", ...used });
    await runAt(database, new Date("2027-02-04T00:00:00.000Z"));
    await reportAt("2027-02-10T00:00:00.000Z", { id: "b", occurredAt: "2027-01-31T23:59:59.999Z", ...used });
    await runAt(database, new Date("2027-03-04T00:00:00.000Z"));
    // Of the month before the last: 34 days and some hours late.
    const late = "2027-03-05T00:00:00.000Z";
    await reportAt(late, { id: "b", occurredAt: "2027-01-31T23:59:59.999Z", void: true });
    await runAt(database, new Date("2027-04-04T00:00:00.000Z"));
    const { rows } = await withClient(ownerUrl, (client) =>
      client.query<object>(
        `select to_char(month, 'YYYY-MM') as month, description, quantity, unit_amount, amount::int, to_char(adjusts, 'YYYY-MM') as adjusts
         from closed_lines where subscription_id = $1 order by month, number`,
        [id],
      ),
    );
    const correction = { description: "Correction of 2027-01", unit_amount: "407", adjusts: "2027-01" };
    assert.deepEqual(rows, [
      {
        month: "2027-01",
        description: "Notes, notes",
        quantity: "1000",
        unit_amount: "0.37",
        amount: 370,
        adjusts: null,
      },
      { month: "2027-02", ...correction, quantity: "1", amount: 407 },
      { month: "2027-03", ...correction, quantity: "-1", amount: -407 },
    ]);
  });

  test("the commission is that of the month's start, also of a correction, which has lines of its own", async () => {
    const { cloned, ownerUrl } = await prepare(undefined, { amount: 1, included: 0 });
    const { database, queue } = await connectAsService<DB>(cleanUp, cloned.serviceUrl);
    const id = await readSubscription(ownerUrl);
    const reportAt = (at: string, record: Partial<UsageRecord>) => {
      const records = [{ id: "a", occurredAt: "2027-01-20T00:00:00.000Z", ...record }];
      return reportUsage(
        { database, queue, usageLimits: highUsageLimits, clock: () => new Date(at) },
        vendor,
        id,
        records,
      );
    };
    const setRate = (percent: number, at: string) =>
      withClient(ownerUrl, (client) =>
        client.query("update vendors set commission_percent = $1, updated_at = $2", [percent, at]),
      );
    await setRate(20, "2026-12-31T23:00:00.000Z");
    await setRate(10, "2027-01-01T00:00:00.000Z");
    // In the month, and before it is closed.
    await setRate(40, "2027-01-01T00:00:00.001Z");
    await reportAt("2027-01-20T00:00:00.000Z", { metric: "notes", quantity: 1_000 });
    await runAt(database, new Date("2027-02-04T00:00:00.000Z"));
    await setRate(30, "2027-02-05T00:00:00.000Z");
    await reportAt("2027-02-10T00:00:00.000Z", { void: true });
    const now = new Date("2027-03-04T00:00:00.000Z");
    const read = async (month: string) => {
      const { status, totals, lines } = await readVendorStatement({ database, clock: () => now }, vendor, month);
      return { status, totals, lines };
    };
    const app = { appSlug: "northwind-scribe", currency: "USD", subscriptions: 1 };
    const commission = { description: "Commission, 10 %", appSlug: null, currency: "USD", subscriptions: null };
    const corrected = {
      totals: [
        { currency: "USD", adjusts: "2027-01", gross: -1_000n, commissionPercent: 10, commission: -100n, net: -900n },
      ],
      lines: [
        { ...app, description: "Northwind Scribe, correction of 2027-01", amount: -1_000n, adjusts: "2027-01" },
        { ...commission, amount: 100n, adjusts: "2027-01" },
      ],
    };
    // While the month is open, and once it is closed.
    await runAt(database, new Date("2027-02-11T00:00:00.000Z"));
    assert.deepEqual(await read("2027-02"), { status: "open", ...corrected });
    await runAt(database, now);
    assert.deepEqual(await read("2027-02"), { status: "closed", ...corrected });
    assert.deepEqual(await read("2027-01"), {
      status: "closed",
      totals: [{ currency: "USD", adjusts: null, gross: 1_000n, commissionPercent: 10, commission: 100n, net: 900n }],
      lines: [
        { ...app, description: "Northwind Scribe", amount: 1_000n, adjusts: null },
        { ...commission, amount: -100n, adjusts: null },
      ],
    });
  });
});
