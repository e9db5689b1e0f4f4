import { Readable } from "node:stream";
import type {
  PageQuery,
  VendorBalance,
  VendorStatementDto,
  VendorStatementLine,
  VendorStatementPage,
  VendorTotal,
} from "@ehr-marketplace/contracts";
import { listPageByName } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { VendorContext } from "../access/vendor-context.ts";
import type { DB } from "../database-schema.ts";
import { requireVendorId } from "../vendors/read-vendors.ts";
import { type CarriedOver, withCarriedOver } from "./balance.ts";
import { findCarriedOver } from "./carried-over-store.ts";
import { type ChargedLine, totalsOf } from "./charged-line.ts";
import { findLinesByVendor, type Ledger } from "./line-store.ts";
import {
  headOf,
  ledgerOf,
  monthRegExp,
  pageOfMonths,
  type ReadDeps,
  requireMonth,
  requireSameMonth,
} from "./read-months.ts";
import { carriedOverRows, rowOf, statementCsvHeader, toCsv } from "./statement-csv.ts";
import { type ListedMonth, listStatements } from "./statement-month.ts";
import { findStatementMonths } from "./statement-month-store.ts";
import { type AppTotal, type Commission, findAppTotals, findCommissionsOf } from "./total-store.ts";

export const toVendorTotal = ({
  currency,
  adjusts,
  gross,
  commissionPercent,
  commission,
}: Commission): VendorTotal => ({
  currency,
  adjusts,
  gross,
  commissionPercent,
  commission,
  net: gross - commission,
});

/** What a vendor's totals make in each currency. */
export const balancesOf = (commissions: readonly Commission[], carried: readonly CarriedOver[]): VendorBalance[] => {
  const nets = commissions.map(({ currency, gross, commission }) => ({ currency, amount: gross - commission }));
  return withCarriedOver(totalsOf(nets), carried).map(({ total, ...balance }) => ({ ...balance, net: total }));
};

type VendorSums = Pick<VendorStatementDto, "totals" | "balances">;

const sumsOf = (commissions: readonly Commission[], carried: readonly CarriedOver[]): VendorSums => ({
  totals: commissions.map(toVendorTotal),
  balances: balancesOf(commissions, carried),
});

async function readSums(
  database: Kysely<DB>,
  vendorId: string,
  listed: readonly ListedMonth[],
): Promise<Map<string, VendorSums>> {
  const months = listed.map(({ month }) => month);
  const monthsIn = (ledger: Ledger) => listed.filter(({ status }) => status === ledger).map(({ month }) => month);
  const commissions = [
    ...(await findCommissionsOf(database, "closed", monthsIn("closed"), vendorId)),
    ...(await findCommissionsOf(database, "open", monthsIn("open"), vendorId)),
  ];
  const carried = await findCarriedOver(database, months, "vendor", vendorId);
  const isOf = (month: string) => (each: { month: string }) => each.month === month;
  return new Map(months.map((month) => [month, sumsOf(commissions.filter(isOf(month)), carried.filter(isOf(month)))]));
}

export async function listVendorStatements(
  { database, clock }: ReadDeps,
  { vendor }: VendorContext,
  query: PageQuery,
): Promise<VendorStatementPage> {
  const vendorId = await requireVendorId(database, vendor);
  const months = listStatements(await findStatementMonths(database), clock());
  let sums = new Map<string, VendorSums>();
  return listPageByName(query, {
    find: async (slice) => {
      const found = pageOfMonths(months, slice);
      sums = await readSums(database, vendorId, found);
      return found;
    },
    getName: ({ month }) => month,
    pattern: monthRegExp,
    toItem: (listed) => ({ ...headOf(listed), ...(sums.get(listed.month) ?? sumsOf([], [])) }),
  });
}

const describeCommission = ({ commissionPercent }: Commission): string => `Commission, ${commissionPercent} %`;
const describeApp = ({ appName, adjusts, isCredit }: AppTotal): string => {
  if (isCredit) return `${appName}, credits`;
  return adjusts === null ? appName : `${appName}, correction of ${adjusts}`;
};

/** The apps of each currency, each with its credits, then the commission on them. Then the same for each month that is corrected. */
function linesOf(apps: readonly AppTotal[], commissions: readonly Commission[]): VendorStatementLine[] {
  return commissions.flatMap((commission): VendorStatementLine[] => [
    ...apps
      .filter(({ currency, adjusts }) => currency === commission.currency && adjusts === commission.adjusts)
      .map((app) => ({
        description: describeApp(app),
        appSlug: app.appSlug,
        subscriptions: app.subscriptions,
        currency: app.currency,
        amount: app.amount,
        adjusts: app.adjusts,
      })),
    {
      description: describeCommission(commission),
      appSlug: null,
      subscriptions: null,
      currency: commission.currency,
      amount: -commission.commission,
      adjusts: commission.adjusts,
    },
  ]);
}

export async function readVendorStatement(
  deps: ReadDeps,
  { vendor }: VendorContext,
  month: string,
): Promise<VendorStatementDto> {
  const { database } = deps;
  const vendorId = await requireVendorId(database, vendor);
  const listed = await requireMonth(deps, month);
  const ledger = ledgerOf(listed);
  const apps = await findAppTotals(database, ledger, listed.month, vendorId);
  const commissions = await findCommissionsOf(database, ledger, [listed.month], vendorId);
  const carried = await findCarriedOver(database, [listed.month], "vendor", vendorId);
  return {
    ...headOf(listed),
    vendor,
    ...sumsOf(commissions, carried),
    lines: linesOf(apps, commissions),
  };
}

const linesPerPage = 1_000;

/** Each subscription's lines, page by page, so that the memory doesn't depend on their number. The commissions come last. */
export async function openVendorCsv(deps: ReadDeps, { vendor }: VendorContext, month: string): Promise<Readable> {
  const { database } = deps;
  const vendorId = await requireVendorId(database, vendor);
  const listed = await requireMonth(deps, month);
  const ledger = ledgerOf(listed);
  const { status } = listed;

  async function* createParts(): AsyncGenerator<string> {
    yield statementCsvHeader;
    let after: ChargedLine | undefined;
    do {
      const page = { vendorId, after, limit: linesPerPage };
      const lines = await findLinesByVendor(database, ledger, listed.month, page);
      if (lines.length > 0) yield toCsv(lines.map((line) => ({ ...line, month, status })));
      after = lines.length < linesPerPage ? undefined : lines.at(-1);
    } while (after !== undefined);
    const commissions = await findCommissionsOf(database, ledger, [listed.month], vendorId);
    const carried = await findCarriedOver(database, [listed.month], "vendor", vendorId);
    await requireSameMonth(deps, listed);
    const head = { month, status, orgAlias: null };
    yield toCsv(commissions.map((commission) => rowOf(head, commissionRow(commission))));
    yield toCsv(carriedOverRows(balancesOf(commissions, carried), head));
  }
  return Readable.from(createParts(), { objectMode: false });
}

const commissionRow = (commission: Commission): Parameters<typeof rowOf>[1] => ({
  description: describeCommission(commission),
  amount: -commission.commission,
  currency: commission.currency,
  adjusts: commission.adjusts,
});
