import { type Month, nextMonth, periodOf, startsOfDays, toMonth } from "../billing/month.ts";

/** A month that has statements, and how far the worker is with it. */
export interface StatementMonth {
  month: Month;
  /** `skipped`: it was over before statements existed. */
  status: "skipped" | "open" | "closing" | "closed";
  phase: "charging" | "totalling" | "done";
  /** The last subscription or vendor that is done, in the order of their ids. */
  cursor: string | null;
  /** When the charging began that is under way, or done. */
  startedAt: Date;
  /** Subscriptions that it has looked at. */
  done: number;
  /** The figures are at least as recent. Null until all were calculated once. */
  asOf: Date | null;
  closedAt: Date | null;
}

/** A month to charge: once a day while it is open, and a last time to close it. */
export interface DueMonth {
  month: Month;
  closes: boolean;
}

/** A month can be closed from the start of the fourth day after it. Until then usage is reported that is still charged in it. */
export function closesAt(month: Month): Date {
  const fourth = startsOfDays(nextMonth(month))[3];
  if (fourth === undefined) throw new Error(`${month} is followed by no month`);
  return fourth;
}

export const previousMonth = (month: Month): Month => toMonth(new Date(periodOf(month).from.getTime() - 1));

const isOver = (known: StatementMonth | undefined): boolean =>
  known?.status === "closed" || known?.status === "skipped";

/** From the first to the last. None if the last is earlier. */
export function listMonths(first: Month, last: Month): Month[] {
  const months: Month[] = [];
  for (let month = first; month <= last; month = nextMonth(month)) months.push(month);
  return months;
}

const isSameDay = (a: Date, b: Date): boolean => a.toISOString().slice(0, 10) === b.toISOString().slice(0, 10);

/** The first month that has to be charged, in order: one isn't closed before the one before it is. */
export function findDueMonth(known: readonly StatementMonth[], first: Month, now: Date): DueMonth | undefined {
  const byMonth = new Map(known.map((each) => [each.month, each]));
  for (const month of listMonths(first, toMonth(now))) {
    const row = byMonth.get(month);
    if (isOver(row)) continue;
    if (closesAt(month) <= now) return { month, closes: true };
    if (row === undefined || row.phase !== "done" || !isSameDay(row.startedAt, now)) return { month, closes: false };
  }
  return undefined;
}

/** What the worker has to do next for a month that is due: continue where it stopped, or begin. */
export function continueMonth(row: StatementMonth, { closes }: DueMonth, now: Date): StatementMonth {
  const isNew = closes ? row.status === "open" : row.phase === "done";
  if (!isNew) return row;
  const status = closes ? "closing" : "open";
  return { ...row, status, phase: "charging", cursor: null, startedAt: now, done: 0 };
}

/** The statements that there are, the newest first. An open month needn't have been charged yet. */
export interface ListedMonth {
  month: Month;
  status: "open" | "closed";
  asOf: Date | null;
}

export function listStatements(known: readonly StatementMonth[], now: Date): ListedMonth[] {
  const current = toMonth(now);
  const byMonth = new Map(known.map((each) => [each.month, each]));
  const first = known[0]?.month ?? current;
  return listMonths(first, current)
    .filter((month) => byMonth.get(month)?.status !== "skipped")
    .map((month): ListedMonth => {
      const row = byMonth.get(month);
      return row?.status === "closed"
        ? { month, status: "closed", asOf: null }
        : { month, status: "open", asOf: row?.asOf ?? null };
    })
    .toReversed();
}

/**
 * The clocks of processes differ, and a transaction takes time: usage that was reported this long before a month began to be closed is
 * certainly in it. What was reported later may be, and is looked at once more.
 */
const marginMs = 86_400_000;

/** Which closed months the next one corrects, and since when usage was reported that they may lack. */
export interface Corrections {
  months: Month[];
  reportedSince: Date;
}

/** Usage is reported up to 35 days late, so it can concern the two months before. Only the first open month corrects others. */
export function findCorrections(known: readonly StatementMonth[], month: Month): Corrections | undefined {
  const closed = new Map(known.filter(({ status }) => status === "closed").map((each) => [each.month, each]));
  const before = previousMonth(month);
  const last = closed.get(before);
  if (last === undefined) return undefined;
  const months = [previousMonth(before), before].filter((each) => closed.has(each));
  return { months, reportedSince: new Date(last.startedAt.getTime() - marginMs) };
}
