import type { StatementPage } from "@ehr-marketplace/client/marketplace";

type Listed = StatementPage["items"][number];

export interface SeriesMonth {
  month: string;
  total: number;
  isOpen: boolean;
}

/** The totals of one currency, the oldest month first. */
export interface Series {
  currency: string;
  months: SeriesMonth[];
}

/** A series for each currency. A month without a total in it has cost nothing in it. */
export function readSeries(statements: readonly Listed[]): Series[] {
  const currencies = new Set(statements.flatMap(({ totals }) => totals.map(({ currency }) => currency)));
  return [...currencies].toSorted().map((currency) => ({
    currency,
    months: statements.toReversed().map(({ month, status, totals }) => ({
      month,
      total: totals.find((each) => each.currency === currency)?.total ?? 0,
      isOpen: status === "open",
    })),
  }));
}

export interface Bar {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface BarArea {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Where bars are drawn: the highest one has the height of the area. Credits are below the line of zero. */
export function layOutBars(totals: readonly number[], area: BarArea): { bars: Bar[]; zero: number } {
  const highest = Math.max(0, ...totals);
  const lowest = Math.min(0, ...totals);
  const range = highest - lowest || 1;
  const zero = area.top + (highest / range) * area.height;
  const step = area.width / Math.max(1, totals.length);
  const bars = totals.map((total, index) => {
    const height = (Math.abs(total) / range) * area.height;
    return { x: area.left + step * (index + 0.15), y: total < 0 ? zero : zero - height, width: step * 0.7, height };
  });
  return { bars, zero };
}
