/** A calendar month in UTC, such as `2027-02`. */
export type Month = `${number}-${string}`;

export const millisecondsPerDay = 86_400_000;

const yearOf = (month: Month): number => Number(month.slice(0, 4));

/** The first day is 1. Day 0 is the last one of the month before. */
const dayOf = (month: Month, day: number): Date => new Date(Date.UTC(yearOf(month), Number(month.slice(5)) - 1, day));

export const toMonth = (time: Date): Month => time.toISOString().slice(0, 7) as Month;

export const nextMonth = (month: Month): Month => toMonth(dayOf(month, 32));

export const daysInMonth = (month: Month): number => dayOf(nextMonth(month), 0).getUTCDate();

export const daysInYear = (month: Month): number =>
  (Date.UTC(yearOf(month) + 1, 0) - Date.UTC(yearOf(month), 0)) / millisecondsPerDay;

/** The starts of the month's days. */
export const startsOfDays = (month: Month): Date[] =>
  Array.from({ length: daysInMonth(month) }, (_, index) => dayOf(month, index + 1));

/** From its begin to that of the next month. */
export const periodOf = (month: Month): { from: Date; to: Date } => ({
  from: dayOf(month, 1),
  to: dayOf(nextMonth(month), 1),
});
