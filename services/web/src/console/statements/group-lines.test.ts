import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatementLine } from "@ehr-marketplace/client/marketplace";
import { describeCharge, describeDue, groupLines } from "./group-lines.ts";

const line = (changes: Partial<StatementLine>): StatementLine => ({
  subscriptionId: "one",
  appSlug: "northwind-scribe",
  appName: "Northwind Scribe",
  currency: "USD",
  description: "Practice, clinician",
  quantity: "5",
  unitAmount: 8_400,
  days: 30,
  intervalDays: 30,
  amount: 42_000,
  adjusts: null,
  creditId: null,
  ...changes,
});

test("lines are grouped by currency and app, with corrections at their app and the API's totals", () => {
  const correction = line({ description: "Correction of 2026-09", quantity: "-1", amount: -500, adjusts: "2026-09" });
  const other = line({ appSlug: "inbox-heron", appName: "Inbox Heron" });
  const euro = line({ currency: "EUR" });
  const grouped = groupLines({
    totals: [
      { currency: "EUR", total: 42_000, carriedOver: 0, due: 42_000 },
      { currency: "USD", total: 83_500, carriedOver: -90_000, due: 0 },
    ],
    lines: [euro, line({}), other, correction],
  });
  assert.deepEqual(
    grouped.map(({ currency, total, apps }) => [currency, total, apps.map((app) => [app.appName, app.lines.length])]),
    [
      ["EUR", 42_000, [["Northwind Scribe", 1]]],
      [
        "USD",
        83_500,
        [
          ["Northwind Scribe", 2],
          ["Inbox Heron", 1],
        ],
      ],
    ],
  );
  assert.equal(grouped[1]?.apps[0]?.lines[1], correction);
});

test("a charge is in words: metrics without underscores, and a tier's fixed amount as such", () => {
  const describe = (description: string) =>
    describeCharge(line({ description, days: null, intervalDays: null, quantity: "1" }));
  assert.equal(describe("By the page, fax_pages"), "By the page, fax pages");
  assert.equal(describe("By the page, fax_pages, above 100, flat"), "By the page, fax pages, above 100, fixed amount");
  assert.equal(describe("Follow-up, _draft_"), "Follow-up, _draft_");
  const byDay = line({ description: "Team, user_seats, 1 to 5, flat, 12 of 30 days", days: 12 });
  assert.equal(describeCharge(byDay), "Team, user seats, 1 to 5, fixed amount");
});

test("a credit has the marketplace's words, and what isn't to be paid is carried over", () => {
  assert.equal(
    describeCharge(line({ description: "Outage of fax_pages", days: null, creditId: "one" })),
    "Outage of fax_pages",
  );
  const of = { currency: "USD", total: -500, carriedOver: -100, due: 0 };
  assert.equal(describeDue(of), "Nothing. -$6.00 is carried over to the next month.");
  assert.equal(describeDue({ ...of, total: 1_000, due: 900 }), "$9.00");
});

test("the days of a charge are said once", () => {
  assert.equal(describeCharge(line({ description: "Team, 12 of 30 days", days: 12 })), "Team");
  assert.equal(describeCharge(line({ description: "Team" })), "Team");
  assert.equal(describeCharge(line({ description: "Team, 12 of 30 days", days: 11 })), "Team, 12 of 30 days");
  assert.equal(describeCharge(line({ description: "Notes", days: null, intervalDays: null })), "Notes");
});
