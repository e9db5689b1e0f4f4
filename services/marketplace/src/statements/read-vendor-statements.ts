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
import type { VendorContext } from "../access/vendor-context.ts";
import { requireVendorId } from "../vendors/read-vendors.ts";
import { type CarriedOver, withCarriedOver } from "./balance.ts";
import { findCarriedOver } from "./carried-over-store.ts";
import { type ChargedLine, totalsOf } from "./charged-line.ts";
import { findLinesByVendor } from "./line-store.ts";
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

export async function listVendorStatements(
  { database, clock }: ReadDeps,
  { vendor }: VendorContext,
  query: PageQuery,
): Promise<VendorStatementPage> {
  const vendorId = await requireVendorId(database, vendor);
  const months = listStatements(await findStatementMonths(database), clock());
  const totals = new Map<string, VendorTotal[]>();
  const readTotals = async (listed: readonly ListedMonth[]): Promise<void> => {
    for (const ledger of ["closed", "open"] as const) {
      const named = listed.filter(({ status }) => status === ledger).map(({ month }) => month);
      for (const { month, ...commission } of await findCommissionsOf(database, ledger, named, vendorId)) {
        totals.set(month, [...(totals.get(month) ?? []), toVendorTotal(commission)]);
      }
    }
  };
  return listPageByName(query, {
    find: async (slice) => {
      const found = pageOfMonths(months, slice);
      await readTotals(found);
      return found;
    },
    getName: ({ month }) => month,
    pattern: monthRegExp,
    toItem: (listed) => ({ ...headOf(listed), totals: totals.get(listed.month) ?? [] }),
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
    totals: commissions.map(toVendorTotal),
    balances: balancesOf(commissions, carried),
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
