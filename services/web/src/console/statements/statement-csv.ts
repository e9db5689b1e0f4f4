import type { StatementDto, StatementLine } from "@ehr-marketplace/client/marketplace";
import { toMajorUnits } from "../../storefront/format.ts";
import { texts } from "../texts.ts";
import { describeCharge } from "./group-lines.ts";

const t = texts.statement;

/** Begins like a formula: programs for spreadsheets calculate such a cell. An apostrophe makes it text. */
const formula = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/u;
/** The same within a text, where a spreadsheet separates by semicolons or tabs. */
const separated = /([;\t\r\n]\s*)(?=[=+\-@＝＋－＠])/gu;

function quote(text: string): string {
  const escaped = (formula.test(text) ? `'${text}` : text).replaceAll(separated, "$1'");
  return `"${escaped.replaceAll('"', '""')}"`;
}

type CsvLine = Omit<StatementLine, "subscriptionId" | "appSlug">;

/** So that the amounts of a currency add up to what is to be paid, or to what is carried over once more. */
const noCharge = {
  appName: "",
  description: t.carriedOver,
  quantity: "",
  unitAmount: "",
  days: null,
  intervalDays: null,
  adjusts: null,
  creditId: null,
};

/** For the practice's books: as on the screen, with amounts as plain decimals. The API's CSV, for programs, has minor units and ids. */
export function statementToCsv({
  month,
  status,
  totals,
  lines,
}: Pick<StatementDto, "month" | "status" | "totals" | "lines">): string {
  const carriedOver = totals
    .filter((total) => total.carriedOver !== 0)
    .map((total): CsvLine => ({ ...noCharge, currency: total.currency, amount: total.carriedOver }));
  const columns: [string, (line: CsvLine) => string | number | null][] = [
    [t.csvColumns.month, () => month],
    [t.csvColumns.state, () => quote(texts.statements.states[status])],
    [t.csvColumns.app, ({ appName }) => quote(appName)],
    [t.columns.what, (line) => quote(describeCharge(line))],
    [t.columns.quantity, ({ quantity }) => quantity],
    [t.columns.price, ({ unitAmount, currency }) => (unitAmount === "" ? "" : toMajorUnits(unitAmount, currency))],
    [t.columns.days, ({ days }) => days],
    [t.csvColumns.intervalDays, ({ intervalDays }) => intervalDays],
    [t.columns.amount, ({ amount, currency }) => toMajorUnits(amount, currency)],
    [t.csvColumns.currency, ({ currency }) => currency],
    [t.csvColumns.corrects, ({ adjusts }) => adjusts],
  ];
  const rows = [
    columns.map(([name]) => name),
    ...[...lines, ...carriedOver].map((line) => columns.map(([, valueOf]) => String(valueOf(line) ?? ""))),
  ];
  return rows.map((row) => `${row.join(",")}\r\n`).join("");
}
