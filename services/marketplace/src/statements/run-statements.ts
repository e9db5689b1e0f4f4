import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely, Transaction } from "kysely";
import { type Month, periodOf, toMonth } from "../billing/month.ts";
import type { DB } from "../database-schema.ts";
import type { KnownPlans } from "../subscriptions/known-plans.ts";
import { forgetLateUsage } from "../usage/read-late-usage.ts";
import { carryOverOrganisations, carryOverVendor } from "./carried-over-store.ts";
import { type ChargeOptions, chargedSince, chargeSubscriptions } from "./charge-subscriptions.ts";
import { deleteOpenLines, insertLines, type Ledger } from "./line-store.ts";
import { continueMonth, type DueMonth, findCorrections, findDueMonth, type StatementMonth } from "./statement-month.ts";
import {
  findFirstSubscription,
  findNextVendorId,
  findStatementMonths,
  findSubscriptionWindow,
  insertStatementMonth,
  lockStatementMonth,
  updateStatementMonth,
} from "./statement-month-store.ts";
import { deleteClosedFromOpen, deleteOpenTotals, insertTotals } from "./total-store.ts";

export interface StatementDeps {
  database: Kysely<DB>;
  clock: () => Date;
  logger: Logger;
  stopped: AbortSignal;
}

export interface StepOptions {
  /** Subscriptions of a step. */
  batchSize: number;
  /** The pause after a step that took this long. */
  pauseAfter: (stepMs: number) => number;
}

/** A step has at most half of a connection's time, so that requests aren't delayed. */
const defaults: StepOptions = { batchSize: 500, pauseAfter: (stepMs) => Math.max(10, stepMs) };
const stepsBetweenLogs = 200;
const maxKnownPlans = 20_000;

const ledgerOf = ({ status }: StatementMonth): Ledger => (status === "closing" ? "closed" : "open");

/** Charges the next subscriptions, in the order of their ids. */
async function chargeNext(
  transaction: Transaction<DB>,
  row: StatementMonth,
  options: ChargeOptions,
  batchSize: number,
): Promise<StatementMonth> {
  const { month } = row;
  const range = { month, since: chargedSince(options), before: periodOf(month).to };
  const window = await findSubscriptionWindow(transaction, { after: row.cursor, size: batchSize, ...range });
  if (window.last === null) return { ...row, phase: "totalling", cursor: null };
  const lines = await chargeSubscriptions(transaction, window.ids, options);
  const ledger = ledgerOf(row);
  if (ledger === "open") await deleteOpenLines(transaction, month, { after: row.cursor, last: window.last });
  else await forgetLateUsage(transaction, window.ids, options.corrections?.months[0] ?? month);
  await insertLines(transaction, ledger, month, lines);
  return { ...row, cursor: window.last, done: row.done + window.size };
}

/** Adds up the next vendor's lines. After the last one the month is done, and closed if it was to be. */
async function totalNext(transaction: Transaction<DB>, row: StatementMonth, now: Date): Promise<StatementMonth> {
  const { month } = row;
  const vendorId = await findNextVendorId(transaction, row.cursor);
  if (vendorId === undefined) {
    const done: StatementMonth = { ...row, phase: "done", cursor: null, asOf: row.startedAt };
    if (row.status !== "closing") return done;
    await carryOverOrganisations(transaction, month);
    return { ...done, status: "closed", closedAt: now };
  }
  const ledger = ledgerOf(row);
  if (ledger === "open") await deleteOpenTotals(transaction, month, vendorId);
  await insertTotals(transaction, ledger, month, vendorId);
  if (ledger === "closed") await carryOverVendor(transaction, month, vendorId);
  return { ...row, cursor: vendorId };
}

type Run = Pick<StatementDeps, "database" | "clock"> & { plans: KnownPlans; batchSize: number };

type StepResult = StatementMonth | "locked" | "not due";

/**
 * Runs the next step of a month in one transaction: its lines or totals, and the cursor. A worker that is killed has done all of it or
 * nothing. `locked` while another worker runs one.
 */
async function runStep({ database, clock, plans, batchSize }: Run, due: DueMonth): Promise<StepResult> {
  return database.transaction().execute(async (transaction): Promise<StepResult> => {
    const locked = await lockStatementMonth(transaction, due.month);
    if (locked === undefined) return "locked";
    const now = clock();
    const known = await findStatementMonths(transaction);
    // Another worker may have done the last step since, or a new day begun, on which an earlier month comes first.
    if (findDueMonth(known, known[0]?.month ?? due.month, now)?.month !== due.month) return "not due";
    const row = continueMonth(locked, due, now);
    // The tables of closed months accept lines only once the month is being closed.
    if (row.status !== locked.status) await updateStatementMonth(transaction, row);
    const charging = { month: due.month, now, corrections: findCorrections(known, due.month), plans };
    const next =
      row.phase === "totalling"
        ? await totalNext(transaction, row, now)
        : await chargeNext(transaction, row, charging, batchSize);
    await updateStatementMonth(transaction, next);
    return next;
  });
}

async function runMonth(deps: StatementDeps, run: Run, due: DueMonth, options: StepOptions): Promise<void> {
  const { logger, stopped } = deps;
  const { month, closes } = due;
  const what = closes ? "close" : "charge";
  for (let step = 0; !stopped.aborted; step += 1) {
    const startedAt = performance.now();
    if (run.plans.size > maxKnownPlans) run.plans.clear();
    const row = await runStep(run, due);
    if (row === "not due") return;
    if (row !== "locked" && row.phase === "done") {
      logger.info({ month, subscriptions: row.done }, closes ? "closed a month" : "charged an open month");
      return;
    }
    if (row !== "locked" && step % stepsBetweenLogs === stepsBetweenLogs - 1) {
      logger.info({ month, subscriptions: row.done, phase: row.phase }, `continuing to ${what} a month`);
    }
    const pauseMs = options.pauseAfter(performance.now() - startedAt);
    await delay(pauseMs, undefined, { signal: stopped }).catch(() => undefined);
  }
}

/** The first month with statements: that of the first subscription, unless an upgrade skipped it. */
async function findFirstMonth(database: Kysely<DB>, known: readonly StatementMonth[]): Promise<Month | undefined> {
  if (known[0] !== undefined) return known[0].month;
  const first = await findFirstSubscription(database);
  return first === null ? undefined : toMonth(first);
}

/** Closes every month that is due, in order, and charges open months once a day. Any number of workers may run it at once. */
export async function runDueStatements(deps: StatementDeps, given: Partial<StepOptions> = {}): Promise<void> {
  const { database, clock, stopped } = deps;
  const options = { ...defaults, ...given };
  const run: Run = { database, clock, plans: new Map(), batchSize: options.batchSize };
  while (!stopped.aborted) {
    const known = await findStatementMonths(database);
    const first = await findFirstMonth(database, known);
    const due = first === undefined ? undefined : findDueMonth(known, first, clock());
    if (due === undefined) break;
    await insertStatementMonth(database, due.month, clock());
    await runMonth(deps, run, due, options);
  }
  await deleteOutdated(deps, options);
}

const maxDeleted = 2_000;

async function deleteOutdated({ database, stopped }: StatementDeps, { pauseAfter }: StepOptions): Promise<void> {
  const closed = (await findStatementMonths(database)).findLast(({ status }) => status === "closed");
  if (closed === undefined) return;
  let deleted = maxDeleted;
  while (deleted === maxDeleted && !stopped.aborted) {
    const startedAt = performance.now();
    deleted = await deleteClosedFromOpen(database, closed.month, maxDeleted);
    await delay(pauseAfter(performance.now() - startedAt), undefined, { signal: stopped }).catch(() => undefined);
  }
}
