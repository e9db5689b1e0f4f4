import assert from "node:assert/strict";
import { test } from "node:test";
import { toCsv } from "./statement-csv.ts";

const row = {
  month: "2027-04",
  status: "closed",
  orgAlias: "riverside-clinic",
  subscriptionId: "01890000-0000-7000-8000-000000000000",
  appSlug: "northwind-scribe",
  appName: "Northwind Scribe",
  description: "Team, provider",
  quantity: "-1",
  unitAmount: "0.35",
  days: null,
  intervalDays: null,
  amount: -90071992547409931n,
  currency: "USD",
  adjusts: "2027-03",
  creditId: null,
};
const cellOf = (appName: string): string =>
  toCsv([{ ...row, appName }]).slice(
    '2027-04,closed,"riverside-clinic",01890000-0000-7000-8000-000000000000,"northwind-scribe",'.length,
    -',"Team, provider",-1,0.35,,,-90071992547409931,USD,2027-03,\r\n'.length,
  );

test("a line of CSV has quoted text, exact numbers as they are, and ends with CRLF", () => {
  assert.equal(
    toCsv([row]),
    '2027-04,closed,"riverside-clinic",01890000-0000-7000-8000-000000000000,"northwind-scribe","Northwind Scribe","Team, provider",-1,0.35,,,-90071992547409931,USD,2027-03,\r\n',
  );
});

for (const [text, cell] of [
  ['=HYPERLINK("https://evil.example")', `"'=HYPERLINK(""https://evil.example"")"`],
  ["+1", `"'+1"`],
  ["-1", `"'-1"`],
  ["@SUM(A1)", `"'@SUM(A1)"`],
  ["  =1", `"'  =1"`],
  ["\t=1", `"'\t'=1"`],
  ["\rname", `"'\rname"`],
  ["＝1", `"'＝1"`],
  ["a;=1", `"a;'=1"`],
  ["a\t@b", `"a\t'@b"`],
  ["a\r\n=1", `"a\r\n'=1"`],
  ['say "yes", please', '"say ""yes"", please"'],
  ["plain - text = fine", '"plain - text = fine"'],
  ["", '""'],
] as const) {
  test(`a spreadsheet doesn't calculate ${JSON.stringify(text)}`, () => assert.equal(cellOf(text), cell));
}
