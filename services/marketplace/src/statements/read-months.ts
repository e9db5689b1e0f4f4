import { monthPattern, type StatementHead } from "@ehr-marketplace/contracts";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import type { Ledger } from "./line-store.ts";
import { statementNotFound } from "./statement-errors.ts";
import { type ListedMonth, listStatements, type StatementMonth } from "./statement-month.ts";
import { findStatementMonths } from "./statement-month-store.ts";

export interface ReadDeps {
  database: Kysely<DB>;
  clock: () => Date;
}

/** The month, or 404 if it has no statements. */
export async function requireMonth(
  { database, clock }: ReadDeps,
  month: string,
): Promise<ListedMonth & { known: StatementMonth[] }> {
  const known = await findStatementMonths(database);
  const listed = listStatements(known, clock()).find((each) => each.month === month);
  if (listed === undefined) throw statementNotFound(month);
  return { ...listed, known };
}

/**
 * Fails if a month was calculated anew, or closed, since it was read. Its lines are read page by page, so some would be missing: whoever
 * streams them breaks off instead of ending.
 */
export async function requireSameMonth(
  { database }: ReadDeps,
  { month, known }: { month: string; known: readonly StatementMonth[] },
): Promise<void> {
  const stateIn = (months: readonly StatementMonth[]): string => {
    const row = months.find((each) => each.month === month);
    return `${row?.status} ${row?.phase} ${row?.startedAt.toISOString()}`;
  };
  if (stateIn(await findStatementMonths(database)) !== stateIn(known)) {
    throw new Error(`${month} was calculated anew while it was read`);
  }
}

export const ledgerOf = ({ status }: ListedMonth): Ledger => status;

export const headOf = ({ month, status, asOf }: ListedMonth): StatementHead => ({
  month,
  status,
  asOf: asOf?.toISOString() ?? null,
});

/** A month in a cursor. */
export const monthRegExp = new RegExp(monthPattern);

/** A page of months, the newest first. */
export const pageOfMonths = (months: readonly ListedMonth[], { after, limit }: { after: string; limit: number }) =>
  months.filter(({ month }) => after === "" || month < after).slice(0, limit);
