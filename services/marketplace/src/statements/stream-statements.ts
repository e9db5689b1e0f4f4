import { Readable } from "node:stream";
import { type ChargedLine, type CurrencyTotal, totalsOf } from "./charged-line.ts";
import { findLinesByOrganisation } from "./line-store.ts";
import { headOf, ledgerOf, type ReadDeps, requireMonth, requireSameMonth } from "./read-months.ts";
import { toStatementLine } from "./read-organisation-statements.ts";
import { toVendorTotal } from "./read-vendor-statements.ts";
import { findCommissions, type VendorCommission } from "./total-store.ts";

const perPage = 1_000;

/** Amounts are exact, also if they are more than a JavaScript number can represent. */
const toJson = (value: object): string =>
  `${JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? rawJson(String(each)) : each))}\n`;
const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (text: string) => unknown };

const isSameStatement = (a: ChargedLine, b: ChargedLine): boolean =>
  a.organisationId === b.organisationId && a.currency === b.currency;

/** All statements of a month as NDJSON: one for each organisation and currency, then one for each vendor and currency, then the end. */
export async function openStatementStream(deps: ReadDeps, month: string): Promise<Readable> {
  const { database } = deps;
  const listed = await requireMonth(deps, month);
  const ledger = ledgerOf(listed);
  const head = headOf(listed);

  /** The lines of each statement. An organisation has at most some thousand, and more of them aren't in memory. */
  async function* readStatements(): AsyncGenerator<ChargedLine[]> {
    let statement: ChargedLine[] = [];
    let after: ChargedLine | undefined;
    do {
      const lines = await findLinesByOrganisation(database, ledger, listed.month, { after, limit: perPage });
      for (const line of lines) {
        const [first] = statement;
        if (first !== undefined && !isSameStatement(first, line)) {
          yield statement;
          statement = [];
        }
        statement.push(line);
      }
      after = lines.length < perPage ? undefined : lines.at(-1);
    } while (after !== undefined);
    if (statement.length > 0) yield statement;
  }

  async function* readVendors(): AsyncGenerator<VendorCommission> {
    let after: VendorCommission | undefined;
    do {
      const page = await findCommissions(database, ledger, listed.month, { after, limit: perPage });
      yield* page;
      after = page.length < perPage ? undefined : page.at(-1);
    } while (after !== undefined);
  }

  async function* createLines(): AsyncGenerator<string> {
    let [statements, vendors] = [0, 0];
    let totals: CurrencyTotal[] = [];
    for await (const lines of readStatements()) {
      const orgAlias = lines[0]?.orgAlias;
      const [owed] = totalsOf(lines);
      if (owed === undefined) continue;
      statements += 1;
      totals = addTotals(totals, [owed]);
      yield toJson({ type: "statement", ...head, orgAlias, ...owed, lines: lines.map(toStatementLine) });
    }
    for await (const commission of readVendors()) {
      vendors += 1;
      yield toJson({ type: "vendor", ...head, vendor: commission.vendor, ...toVendorTotal(commission) });
    }
    await requireSameMonth(deps, listed);
    yield toJson({ type: "end", ...head, statements, vendors, totals });
  }
  return Readable.from(createLines(), { objectMode: false });
}

const addTotals = (a: readonly CurrencyTotal[], b: readonly CurrencyTotal[]): CurrencyTotal[] =>
  totalsOf([...a, ...b].map(({ currency, total }) => ({ currency, amount: total })));
