import type { PageQuery, StatementDto, StatementLine, StatementPage } from "@ehr-marketplace/contracts";
import { listPageByName } from "@ehr-marketplace/service-kit/http";
import type { Caller, Role } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import { requireRole } from "../access/require-role.ts";
import { periodOf } from "../billing/month.ts";
import type { DB } from "../database-schema.ts";
import { requireOrganisationId } from "../organisations/read-organisations.ts";
import { type DueTotal, withCarriedOver } from "./balance.ts";
import { findCarriedOver } from "./carried-over-store.ts";
import { chargedSince, chargeSubscriptions } from "./charge-subscriptions.ts";
import { type ChargedLine, totalsOf } from "./charged-line.ts";
import { findLinesOf, findTotalsOf } from "./line-store.ts";
import { headOf, monthRegExp, pageOfMonths, type ReadDeps, requireMonth } from "./read-months.ts";
import { carriedOverRows, statementCsvHeader, toCsv } from "./statement-csv.ts";
import { findCorrections, type ListedMonth, listStatements, type StatementMonth } from "./statement-month.ts";
import { findStatementMonths, findSubscriptionsOf } from "./statement-month-store.ts";

export const statementRoles = ["org-member", "org-admin", "billing", "auditor", "operator"] as const satisfies Role[];

async function requireOwnOrganisation(database: Kysely<DB>, caller: Caller, alias: string): Promise<string> {
  requireRole(caller, alias, statementRoles);
  return requireOrganisationId(database, alias);
}

interface OrganisationMonths {
  organisationId: string;
  known: readonly StatementMonth[];
  now: Date;
}

/** What an open month costs so far, calculated when it is asked for: an organisation has at most some hundred subscriptions. */
async function chargeOpenMonth(
  database: Kysely<DB>,
  { organisationId, known, now }: OrganisationMonths,
  { month }: ListedMonth,
): Promise<ChargedLine[]> {
  const options = { month, now, corrections: findCorrections(known, month) };
  const range = { month, since: chargedSince(options), before: periodOf(month).to };
  const lines = await chargeSubscriptions(
    database,
    await findSubscriptionsOf(database, organisationId, range),
    options,
  );
  return lines.toSorted((a, b) => (a.currency === b.currency ? 0 : a.currency < b.currency ? -1 : 1));
}

/** An organisation's lines of a month: those that it was closed with, or what it costs so far. */
export const readLinesOf = (
  database: Kysely<DB>,
  of: OrganisationMonths,
  listed: ListedMonth,
): Promise<ChargedLine[]> =>
  listed.status === "closed"
    ? findLinesOf(database, listed.month, of.organisationId)
    : chargeOpenMonth(database, of, listed);

export async function listOrganisationStatements(
  { database, clock }: ReadDeps,
  caller: Caller,
  alias: string,
  query: PageQuery,
): Promise<StatementPage> {
  const organisationId = await requireOwnOrganisation(database, caller, alias);
  const now = clock();
  const known = await findStatementMonths(database);
  const months = listStatements(known, now);
  let totals = new Map<string, DueTotal[]>();
  return listPageByName(query, {
    find: async (slice) => {
      const found = pageOfMonths(months, slice);
      totals = await readTotals(database, { organisationId, known, now }, found);
      return found;
    },
    getName: ({ month }) => month,
    pattern: monthRegExp,
    toItem: (listed) => ({ ...withTime(listed, now), totals: totals.get(listed.month) ?? [] }),
  });
}

const minuteMs = 60_000;

/** An open month is calculated now. To the minute, so that the same statement is the same response. */
const withTime = (listed: ListedMonth, now: Date) =>
  headOf({
    ...listed,
    asOf: listed.status === "open" ? new Date(now.getTime() - (now.getTime() % minuteMs)) : null,
  });

async function readTotals(
  database: Kysely<DB>,
  of: OrganisationMonths,
  listed: readonly ListedMonth[],
): Promise<Map<string, DueTotal[]>> {
  const { organisationId } = of;
  const closed = listed.filter(({ status }) => status === "closed").map(({ month }) => month);
  const ofClosed = Map.groupBy(await findTotalsOf(database, closed, organisationId), ({ month }) => month);
  const months = listed.map(({ month }) => month);
  const carried = await findCarriedOver(database, months, "organisation", organisationId);
  const totals = new Map<string, DueTotal[]>();
  for (const each of listed) {
    const { month, status } = each;
    const ofMonth =
      status === "closed" ? (ofClosed.get(month) ?? []) : totalsOf(await chargeOpenMonth(database, of, each));
    totals.set(
      month,
      withCarriedOver(
        ofMonth,
        carried.filter((amount) => amount.month === month),
      ),
    );
  }
  return totals;
}

export const toStatementLine = (line: ChargedLine): StatementLine => ({
  subscriptionId: line.subscriptionId,
  appSlug: line.appSlug,
  appName: line.appName,
  currency: line.currency,
  description: line.description,
  quantity: line.quantity,
  unitAmount: line.unitAmount,
  days: line.days,
  intervalDays: line.intervalDays,
  amount: line.amount,
  adjusts: line.adjusts,
  creditId: line.creditId,
});

export async function readOrganisationStatement(
  { database, clock }: ReadDeps,
  caller: Caller,
  alias: string,
  month: string,
): Promise<StatementDto> {
  const organisationId = await requireOwnOrganisation(database, caller, alias);
  const now = clock();
  const { known, ...listed } = await requireMonth({ database, clock: () => now }, month);
  const lines = await readLinesOf(database, { organisationId, known, now }, listed);
  const carried = await findCarriedOver(database, [listed.month], "organisation", organisationId);
  return {
    ...withTime(listed, now),
    orgAlias: alias,
    totals: withCarriedOver(totalsOf(lines), carried),
    lines: lines.map(toStatementLine),
  };
}

export const statementToCsv = ({ month, status, orgAlias, totals, lines }: StatementDto): string =>
  statementCsvHeader +
  toCsv(lines.map((line) => ({ ...line, month, status, orgAlias }))) +
  toCsv(carriedOverRows(totals, { month, status, orgAlias }));
