import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { divideApps, sumCosts } from "./sum-costs.ts";

describe("costs by app", () => {
  test("have a row for each of eight or nine apps, and one for all others", () => {
    const divide = (count: number) => {
      const { shown, others } = divideApps(Array.from({ length: count }, (_, index) => index));
      assert.deepEqual([...shown, ...others].length, count);
      return [shown.length, others.length];
    };
    assert.deepEqual([0, 8, 9, 10, 30].map(divide), [
      [0, 0],
      [8, 0],
      [9, 0],
      [8, 2],
      [8, 22],
    ]);
  });

  const dollars = { currency: "USD", total: 1_000, projectedTotal: 1_550 };
  const euros = { currency: "EUR", total: 5, projectedTotal: 10 };

  test("are added up by currency", () => {
    assert.deepEqual(sumCosts([dollars, euros, { ...dollars, total: 250 }]), {
      soFar: ["$12.50", "€0.05"],
      projected: ["$31.00", "€0.10"],
    });
  });

  test("have no sum while one of them isn't known", () => {
    assert.equal(sumCosts([dollars, undefined]), undefined);
  });
});
