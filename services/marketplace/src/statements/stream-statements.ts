import { Readable } from "node:stream";
import { type DueTotal, withCarriedOver } from "./balance.ts";
import { type ChargedLine, totalsOf } from "./charged-line.ts";
import { findLinesByOrganisation, type StatementOfLine } from "./line-store.ts";
import { headOf, ledgerOf, type ReadDeps, requireMonth, requireSameMonth } from "./read-months.ts";
import { toStatementLine } from "./read-organisation-statements.ts";
import { balancesOf, toVendorTotal } from "./read-vendor-statements.ts";
import { findCommissions, type VendorCommission } from "./total-store.ts";

const perPage = 1_000;

/** Amounts are exact, also if they are more than a JavaScript number can represent. */
const toJson = (value: object): string =>
  `${JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? rawJson(String(each)) : each))}\n`;
const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (text: string) => unknown };

/** Rows that belong together follow each other. More than one group isn't in memory. */
async function* readGroups<Row>(
  readPage: (after: Row | undefined) => Promise<Row[]>,
  isSame: (a: Row, b: Row) => boolean,
): AsyncGenerator<[Row, ...Row[]]> {
  let group: [Row, ...Row[]] | undefined;
  let after: Row | undefined;
  do {
    const page = await readPage(after);
    for (const row of page) {
      if (group !== undefined && isSame(group[0], row)) {
        group.push(row);
        continue;
      }
      if (group !== undefined) yield group;
      group = [row];
    }
    after = page.length < perPage ? undefined : page.at(-1);
  } while (after !== undefined);
  if (group !== undefined) yield group;
}

const isSameStatement = (a: ChargedLine, b: ChargedLine): boolean =>
  a.organisationId === b.organisationId && a.currency === b.currency;
const isSameBalance = (a: VendorCommission, b: VendorCommission): boolean =>
  a.vendorId === b.vendorId && a.currency === b.currency;

/**
 * All statements of a month as NDJSON: one for each organisation and currency, then the totals of each vendor and currency with their balance,
 * then the end.
 */
export async function openStatementStream(deps: ReadDeps, month: string): Promise<Readable> {
  const { database } = deps;
  const listed = await requireMonth(deps, month);
  const ledger = ledgerOf(listed);
  const head = headOf(listed);
  const readLines = (after: StatementOfLine | undefined) =>
    findLinesByOrganisation(database, ledger, listed.month, { after, limit: perPage });
  const readCommissions = (after: VendorCommission | undefined) =>
    findCommissions(database, ledger, listed.month, { after, limit: perPage });

  async function* createLines(): AsyncGenerator<string> {
    let [statements, vendors] = [0, 0];
    let totals: DueTotal[] = [];
    for await (const lines of readGroups(readLines, isSameStatement)) {
      const [{ orgAlias, currency, carriedOver }] = lines;
      const owed = withCarriedOver(totalsOf(lines), [{ currency, amount: carriedOver }]);
      statements += 1;
      totals = addTotals([...totals, ...owed]);
      yield toJson({ type: "statement", ...head, orgAlias, ...owed[0], lines: lines.map(toStatementLine) });
    }
    for await (const commissions of readGroups(readCommissions, isSameBalance)) {
      const [{ vendor, currency, carriedOver }] = commissions;
      vendors += commissions.length;
      for (const each of commissions) yield toJson({ type: "vendor", ...head, vendor, ...toVendorTotal(each) });
      const [balance] = balancesOf(commissions, [{ currency, amount: carriedOver }]);
      yield toJson({ type: "balance", ...head, vendor, ...balance });
    }
    await requireSameMonth(deps, listed);
    yield toJson({ type: "end", ...head, statements, vendors, totals });
  }
  return Readable.from(createLines(), { objectMode: false });
}

/** In the order of the currencies. */
function addTotals(given: readonly DueTotal[]): DueTotal[] {
  const sumOf = (rows: readonly DueTotal[], key: "total" | "carriedOver" | "due"): bigint =>
    rows.reduce((sum, row) => sum + row[key], 0n);
  const byCurrency = Map.groupBy(given, ({ currency }) => currency);
  return [...byCurrency.entries()]
    .map(([currency, rows]) => ({
      currency,
      total: sumOf(rows, "total"),
      carriedOver: sumOf(rows, "carriedOver"),
      due: sumOf(rows, "due"),
    }))
    .toSorted((a, b) => (a.currency < b.currency ? -1 : 1));
}
