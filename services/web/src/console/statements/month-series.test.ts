import assert from "node:assert/strict";
import { test } from "node:test";
import { layOutBars, readSeries } from "./month-series.ts";

const totalOf = (currency: string, total: number) => ({ currency, total, carriedOver: 0, due: total });

test("there is a series for each currency, the oldest month first, and nothing is zero", () => {
  const page = [
    { month: "2026-11", status: "open" as const, asOf: null, totals: [totalOf("USD", 500)] },
    {
      month: "2026-10",
      status: "closed" as const,
      asOf: null,
      totals: [totalOf("USD", 900), totalOf("EUR", 70)],
    },
    { month: "2026-09", status: "closed" as const, asOf: null, totals: [] },
  ];
  assert.deepEqual(readSeries(page), [
    {
      currency: "EUR",
      months: [
        { month: "2026-09", total: 0, isOpen: false },
        { month: "2026-10", total: 70, isOpen: false },
        { month: "2026-11", total: 0, isOpen: true },
      ],
    },
    {
      currency: "USD",
      months: [
        { month: "2026-09", total: 0, isOpen: false },
        { month: "2026-10", total: 900, isOpen: false },
        { month: "2026-11", total: 500, isOpen: true },
      ],
    },
  ]);
  assert.deepEqual(readSeries([]), []);
});

test("bars are as high as their totals, and credits hang below the line of zero", () => {
  const area = { left: 0, top: 10, width: 100, height: 80 };
  const { bars, zero } = layOutBars([300, 0, -100], area);
  assert.equal(zero, 70);
  assert.deepEqual(
    bars.map(({ y, height }) => [y, height]),
    [
      [10, 60],
      [70, 0],
      [70, 20],
    ],
  );
  assert.ok(bars.every(({ x, width }) => x >= 0 && x + width <= 100));
});

test("months that cost nothing have no bar", () => {
  const { bars } = layOutBars([0, 0], { left: 0, top: 0, width: 10, height: 10 });
  assert.deepEqual(
    bars.map(({ height }) => height),
    [0, 0],
  );
});
