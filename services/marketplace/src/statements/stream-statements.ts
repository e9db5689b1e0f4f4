import { Readable } from "node:stream";
import { type DueTotal, withCarriedOver } from "./balance.ts";
import { findCarriedOverByParty, type PartyCarriedOver } from "./carried-over-store.ts";
import { type ChargedLine, totalsOf } from "./charged-line.ts";
import { findLinesByOrganisation } from "./line-store.ts";
import { headOf, ledgerOf, type ReadDeps, requireMonth, requireSameMonth } from "./read-months.ts";
import { toStatementLine } from "./read-organisation-statements.ts";
import { balancesOf, toVendorTotal } from "./read-vendor-statements.ts";
import { findCommissions, type VendorCommission } from "./total-store.ts";

/** Amounts are exact, also if they are more than a JavaScript number can represent. */
const toJson = (value: object): string =>
  `${JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? rawJson(String(each)) : each))}\n`;
const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (text: string) => unknown };

/** More than one page isn't in memory. */
async function* readRows<Row>(
  limit: number,
  readPage: (page: { after: Row | undefined; limit: number }) => Promise<Row[]>,
): AsyncGenerator<Row> {
  let after: Row | undefined;
  do {
    const page = await readPage({ after, limit });
    for (const row of page) yield row;
    after = page.length < limit ? undefined : page.at(-1);
  } while (after !== undefined);
}

/** An organisation or a vendor, in a currency. */
type Party = Omit<PartyCarriedOver, "amount">;
/** Ordered as PostgreSQL orders ids and currencies. */
const keyOf = ({ id, currency }: Party): string => `${id} ${currency}`;
type PartyRows<Row> = Party & { rows: Row[] };

const organisationOf = ({ organisationId, orgAlias, currency }: ChargedLine): Party => ({
  id: organisationId,
  name: orgAlias,
  currency,
});
const vendorOf = ({ vendorId, vendor, currency }: VendorCommission): Party => ({
  id: vendorId,
  name: vendor,
  currency,
});

/** Rows of a party follow each other. More than one party's aren't in memory. */
async function* readGroups<Row>(
  rows: AsyncGenerator<Row>,
  partyOf: (row: Row) => Party,
): AsyncGenerator<PartyRows<Row>> {
  let group: PartyRows<Row> | undefined;
  for await (const row of rows) {
    const party = partyOf(row);
    if (group !== undefined && keyOf(group) === keyOf(party)) {
      group.rows.push(row);
      continue;
    }
    if (group !== undefined) yield group;
    group = { ...party, rows: [row] };
  }
  if (group !== undefined) yield group;
}

/** Each party with what is carried over to it, also if it has no rows. Both are in the same order. */
async function* joinCarriedOver<Row>(
  groups: AsyncGenerator<PartyRows<Row>>,
  carried: AsyncGenerator<PartyCarriedOver>,
): AsyncGenerator<PartyRows<Row> & PartyCarriedOver> {
  let next = await carried.next();
  for await (const group of groups) {
    for (; !next.done && keyOf(next.value) < keyOf(group); next = await carried.next()) {
      yield { ...next.value, rows: [] };
    }
    if (!next.done && keyOf(next.value) === keyOf(group)) {
      yield { ...next.value, rows: group.rows };
      next = await carried.next();
    } else {
      yield { ...group, amount: 0n };
    }
  }
  for (; !next.done; next = await carried.next()) yield { ...next.value, rows: [] };
}

/**
 * All statements of a month as NDJSON: one for each organisation and currency, then the totals of each vendor and currency with their balance,
 * then the end. Who has only something carried over has a statement, or a balance, too.
 */
export async function openStatementStream(deps: ReadDeps, month: string, perPage = 1_000): Promise<Readable> {
  const { database } = deps;
  const listed = await requireMonth(deps, month);
  const ledger = ledgerOf(listed);
  const head = headOf(listed);
  const readCarriedOver = (party: "organisation" | "vendor") =>
    readRows<PartyCarriedOver>(perPage, (page) => findCarriedOverByParty(database, listed.month, party, page));
  const readLines = () =>
    readRows<ChargedLine>(perPage, (page) => findLinesByOrganisation(database, ledger, listed.month, page));
  const readCommissions = () =>
    readRows<VendorCommission>(perPage, (page) => findCommissions(database, ledger, listed.month, page));

  async function* createLines(): AsyncGenerator<string> {
    let [statements, vendors] = [0, 0];
    let totals: DueTotal[] = [];
    for await (const each of joinCarriedOver(
      readGroups(readLines(), organisationOf),
      readCarriedOver("organisation"),
    )) {
      const owed = withCarriedOver(totalsOf(each.rows), [each]);
      statements += 1;
      totals = addTotals([...totals, ...owed]);
      yield toJson({
        type: "statement",
        ...head,
        orgAlias: each.name,
        ...owed[0],
        lines: each.rows.map(toStatementLine),
      });
    }
    for await (const each of joinCarriedOver(readGroups(readCommissions(), vendorOf), readCarriedOver("vendor"))) {
      const { name: vendor, rows: commissions } = each;
      vendors += commissions.length;
      for (const total of commissions.map(toVendorTotal)) yield toJson({ type: "vendor", ...head, vendor, ...total });
      const [balance] = balancesOf(commissions, [each]);
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
