import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatementLine } from "@ehr-marketplace/client/marketplace";
import { statementToCsv } from "./statement-csv.ts";

const line = (changes: Partial<StatementLine>): StatementLine => ({
  subscriptionId: "01900000-0000-7000-8000-000000000001",
  appSlug: "fax-warbler",
  appName: "Fax Warbler",
  currency: "USD",
  description: "By the page, fax_pages",
  quantity: "12.5",
  unitAmount: "4.5",
  days: null,
  intervalDays: null,
  amount: 56,
  adjusts: null,
  creditId: null,
  ...changes,
});
const rowsOf = (...lines: StatementLine[]): string[] =>
  statementToCsv({ month: "2026-10", status: "closed", totals: [], lines }).split("\r\n").slice(1, -1);

test("a statement's CSV has the screen's words, and amounts in whole units of the currency", () => {
  assert.equal(
    statementToCsv({ month: "2026-10", status: "open", totals: [], lines: [line({})] }),
    "Month,State,App,Charge,Quantity,Price of a unit,Days,Days of the interval,Amount,Currency,Corrects\r\n" +
      '2026-10,"So far","Fax Warbler","By the page, fax pages",12.5,0.045,,,0.56,USD,\r\n',
  );
  const byDay = { description: "Team, 12 of 31 days", quantity: "1", unitAmount: 3_800, days: 12, intervalDays: 31 };
  assert.deepEqual(rowsOf(line({ ...byDay, amount: 1_471, currency: "EUR" })), [
    '2026-10,"Final","Fax Warbler","Team",1,38.00,12,31,14.71,EUR,',
  ]);
});

test("what is carried over is a row, so that the amounts add up to what is to be paid", () => {
  const totals = [{ currency: "USD", total: 56, carriedOver: -20, due: 36 }];
  const rows = statementToCsv({ month: "2026-10", status: "closed", totals, lines: [line({})] }).split("\r\n");
  assert.equal(rows[2], '2026-10,"Final","","Carried over from the month before",,,,,-0.20,USD,');
});

test("credits, currencies without minor units and large amounts are exact", () => {
  const amounts = rowsOf(
    line({ quantity: "-1", amount: -5, adjusts: "2026-09" }),
    line({ currency: "JPY", unitAmount: "0.00000001", amount: 1_500 }),
    line({ unitAmount: "123456789012345.12345678", amount: Number.MAX_SAFE_INTEGER }),
  ).map((row) => row.split(' pages",')[1]);
  assert.deepEqual(amounts, [
    "-1,0.045,,,-0.05,USD,2026-09",
    "12.5,0.00000001,,,1500,JPY,",
    "12.5,1234567890123.4512345678,,,90071992547409.91,USD,",
  ]);
});

test("text that a spreadsheet would calculate stays text, and quotes are kept", () => {
  const cellOf = (appName: string): string | undefined => rowsOf(line({ appName }))[0]?.split('"Final",')[1];
  for (const [name, cell] of [
    ["=1+1", `"'=1+1"`],
    [" +1", `"' +1"`],
    ["＝1", `"'＝1"`],
    ["a;=1", `"a;'=1"`],
    ['The "Fax"', '"The ""Fax"""'],
  ] as const) {
    assert.ok(cellOf(name)?.startsWith(`${cell},`), name);
  }
});
