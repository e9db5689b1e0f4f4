import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import fc from "fast-check";
import { Fraction } from "fraction.js";
import { daysInMonth, type Month } from "./month.ts";
import { flat, perUnit, tiered, tiers, usage } from "./price.test-support.ts";
import { charge, type PricedPlan, price, roundAmount, totalOf } from "./price.ts";
import { examples } from "./price-examples.test-support.ts";

const dollars = (cents: bigint): string => (Number(cents) / 100).toFixed(2);

describe("the price of", () => {
  for (const { plan, happened, month, days = [], usage: used = [], lines } of examples) {
    test(`${plan}. ${happened}: ${lines.map(([text]) => text).join(" + ") || "nothing"}`, () => {
      assert.deepEqual(
        price(month, days, used).map(({ amount }) => amount),
        lines.map(([, amount]) => amount),
      );
    });
  }

  test("each example of the documentation is one of these", async () => {
    const document = await readFile(new URL("../../../../docs/prices.md", import.meta.url), "utf8");
    const rows = document
      .split("\n")
      .filter((line) => line.startsWith("| ") && /\d/.test(line) && line.split("|").length === 6)
      .map((line) =>
        line
          .slice(2, -2)
          .split("|")
          .map((cell) => cell.trim()),
      );
    const expected = examples.map(({ plan, happened, lines }) => [
      plan,
      happened,
      lines.map(([text, amount]) => `${text} = ${dollars(amount)}`).join("<br>") || "nothing",
      dollars(lines.reduce((sum, [, amount]) => sum + amount, 0n)),
    ]);
    assert.deepEqual(rows, expected);
  });

  test("a tier's units says which units they are", () => {
    const plan = usage(tiers("GRADUATED", [100, 10], [200, 5, 500], [null, 0, 900]));
    assert.deepEqual(
      price("2027-04", [], [{ plan, quantity: "250.5" }]).map((line) => [line.description, line.quantity.toString()]),
      [
        ["Pay as you go, notes, 1 to 100", "100"],
        ["Pay as you go, notes, 101 to 200", "100"],
        ["Pay as you go, notes, 101 to 200, flat", "1"],
        ["Pay as you go, notes, above 200, flat", "1"],
      ],
    );
  });
});

const amount = fc.oneof(
  fc.nat({ max: 1_000_000 }),
  fc.tuple(fc.nat({ max: 9_999 }), fc.integer({ min: 1, max: 99_999_999 })).map(([whole, decimals]) => {
    return `${whole}.${String(decimals).padStart(8, "0")}`;
  }),
);
const included = fc.option(fc.nat({ max: 50 }));
const anyTiers = (mode: "GRADUATED" | "VOLUME") =>
  fc
    .tuple(
      fc.uniqueArray(fc.integer({ min: 1, max: 200 }), { maxLength: 4 }),
      fc.array(fc.tuple(amount, fc.nat({ max: 10_000 })), { minLength: 5, maxLength: 5 }),
    )
    .map(([ends, prices]) => {
      const bounds = [...ends.toSorted((a, b) => a - b), null];
      return tiers(
        mode,
        ...bounds.map((upTo, index): [number | null, number | string, number] => {
          const [unitAmount, flatAmount] = prices[index] ?? [0, 0];
          return [upTo, unitAmount, flatAmount];
        }),
      );
    });
const someTiers = fc.oneof(anyTiers("GRADUATED"), anyTiers("VOLUME"));
const intervalPlan: fc.Arbitrary<PricedPlan> = fc.oneof(
  fc.tuple(fc.nat({ max: 1_000_000 }), fc.constantFrom("MONTH" as const, "YEAR" as const)).map(([each, interval]) => {
    return flat(each, interval);
  }),
  fc.tuple(fc.nat({ max: 1_000_000 }), included).map(([each, units]) => perUnit(each, units)),
  fc.tuple(someTiers, included).map(([given, units]) => ({ ...tiered(given), includedUnits: units })),
);
const usagePlan: fc.Arbitrary<PricedPlan> = fc
  .tuple(
    fc.oneof(
      amount.map((each) => ({ amount: each })),
      someTiers,
    ),
    included,
  )
  .map(([given, units]) => usage(given, units));
const used = fc.tuple(fc.nat({ max: 300 }), fc.nat({ max: 999_999 })).map(([whole, decimals]) => {
  return `${whole}.${String(decimals).padStart(6, "0")}`;
});
const month = fc
  .tuple(fc.integer({ min: 2024, max: 2032 }), fc.integer({ min: 1, max: 12 }))
  .map(([year, nth]): Month => `${year}-${String(nth).padStart(2, "0")}`);
const quantity = fc.integer({ min: 1, max: 300 });

const sum = (charges: { exact: Fraction }[]): Fraction =>
  charges.reduce((total, { exact }) => total.add(exact), new Fraction(0));

/** One unit after the other, with integers only: amounts in 10⁻⁸ of a minor unit, units in 10⁻⁶. */
function priceByUnits(plan: PricedPlan, microUnits: bigint): bigint {
  const scaled = (given: number | string | null): bigint => {
    const [whole = "0", decimals = ""] = String(given ?? 0).split(".");
    return BigInt(whole + decimals.padEnd(8, "0"));
  };
  const unit = 1_000_000n;
  const charged = microUnits - BigInt(plan.includedUnits ?? 0) * unit;
  if (charged <= 0n) return 0n;
  if (plan.tiers.length === 0) return charged * scaled(plan.amount);
  const tierOf = (nth: bigint) => plan.tiers.findIndex(({ upTo }) => upTo === null || nth <= BigInt(upTo));
  if (plan.tierMode === "VOLUME") {
    const tier = plan.tiers[tierOf((charged + unit - 1n) / unit)];
    return charged * scaled(tier?.unitAmount ?? 0) + scaled(tier?.flatAmount ?? 0) * unit;
  }
  let total = 0n;
  const entered = new Set<number>();
  for (let nth = 1n; (nth - 1n) * unit < charged; nth += 1n) {
    const index = tierOf(nth);
    const part = charged - (nth - 1n) * unit;
    total += (part < unit ? part : unit) * scaled(plan.tiers[index]?.unitAmount ?? 0);
    if (!entered.has(index)) total += scaled(plan.tiers[index]?.flatAmount ?? 0) * unit;
    entered.add(index);
  }
  return total;
}
const perMinorUnit = 10n ** 14n;

describe("for any plan, days and usage", () => {
  test("what is charged equals a calculation day by day and unit by unit", () => {
    fc.assert(
      fc.property(month, intervalPlan, quantity, fc.nat({ max: 31 }), (given, plan, count, some) => {
        const days = Math.min(some, daysInMonth(given));
        const isLeap = new Date(Date.UTC(Number(given.slice(0, 4)), 1, 29)).getUTCMonth() === 1;
        const intervalDays = plan.interval === "YEAR" ? (isLeap ? 366n : 365n) : BigInt(daysInMonth(given));
        const ofInterval =
          plan.pricingModel === "FLAT"
            ? BigInt(plan.amount ?? 0) * perMinorUnit
            : priceByUnits(plan, BigInt(count) * 1_000_000n);
        let total = 0n;
        for (let day = 0; day < days; day += 1) total += ofInterval;
        const expected = new Fraction(total, perMinorUnit * intervalDays);
        assert.ok(sum(charge(given, [{ plan, quantity: count, days }], [])).equals(expected));
      }),
    );
    fc.assert(
      fc.property(usagePlan, used, (plan, count) => {
        const expected = new Fraction(priceByUnits(plan, BigInt(count.replace(".", ""))), perMinorUnit);
        assert.ok(sum(charge("2027-04", [], [{ plan, quantity: count }])).equals(expected));
      }),
    );
  });

  test("no line is negative, and each is within half a minor unit of what it is exactly", () => {
    fc.assert(
      fc.property(
        month,
        intervalPlan,
        quantity,
        fc.nat({ max: 28 }),
        usagePlan,
        used,
        (given, plan, count, days, metered, units) => {
          const input = [given, [{ plan, quantity: count, days }], [{ plan: metered, quantity: units }]] as const;
          const lines = price(...input);
          for (const [index, { exact }] of charge(...input).entries()) {
            const rounded = lines[index]?.amount ?? -1n;
            assert.ok(rounded >= 0n);
            const above = new Fraction(rounded).sub(exact);
            assert.ok(above.compare("1/2") <= 0 && above.compare("-1/2") > 0, `${exact.toFraction()} as ${rounded}`);
          }
          assert.equal(
            totalOf(lines),
            lines.reduce((total, line) => total + line.amount, 0n),
          );
        },
      ),
    );
  });

  test("days add up before they are rounded, however they are divided", () => {
    fc.assert(
      fc.property(
        month,
        intervalPlan,
        quantity,
        fc.nat({ max: 14 }),
        fc.nat({ max: 14 }),
        (given, plan, count, some, others) => {
          const of = (days: number): Fraction => sum(charge(given, [{ plan, quantity: count, days }], []));
          assert.ok(
            of(some)
              .add(of(others))
              .equals(of(some + others)),
          );
        },
      ),
    );
  });

  test("GRADUATED never exceeds all units at the highest price and every flat amount", () => {
    fc.assert(
      fc.property(anyTiers("GRADUATED"), included, used, (given, units, count) => {
        const plan = usage(given, units);
        const highest = given.tiers
          .map(({ unitAmount }) => new Fraction(unitAmount))
          .reduce((a, b) => (a.compare(b) > 0 ? a : b), new Fraction(0));
        const flats = given.tiers.reduce((total, { flatAmount }) => total + flatAmount, 0);
        const bound = highest.mul(count).add(flats);
        assert.ok(sum(charge("2027-04", [], [{ plan, quantity: count }])).compare(bound) <= 0);
      }),
    );
  });

  test("more usage never costs less, unless a VOLUME tier is cheaper", () => {
    const monotone = fc.oneof(
      amount.map((each) => ({ amount: each })),
      anyTiers("GRADUATED"),
    );
    fc.assert(
      fc.property(monotone, included, used, used, (given, units, one, other) => {
        const of = (count: string): Fraction =>
          sum(charge("2027-04", [], [{ plan: usage(given, units), quantity: count }]));
        const [less, more] = Number(one) < Number(other) ? [one, other] : [other, one];
        assert.ok(of(less).compare(of(more)) <= 0);
      }),
    );
  });
});

test("half a minor unit is rounded up", () => {
  for (const [exact, rounded] of [
    ["1/2", 1n],
    ["499/1000", 0n],
    ["3/2", 2n],
    ["5/2", 3n],
    ["0", 0n],
  ] as const) {
    assert.equal(roundAmount(new Fraction(exact)), rounded);
  }
});
