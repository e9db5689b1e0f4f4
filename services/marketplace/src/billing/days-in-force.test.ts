import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Terms } from "../subscriptions/terms.ts";
import { findDaysInForce, groupChargedDays, type History } from "./days-in-force.ts";
import { daysInMonth, daysInYear, nextMonth } from "./month.ts";

const at = (day: number, time = "10:00"): Date => new Date(`2027-04-${String(day).padStart(2, "0")}T${time}:00.000Z`);
const march = new Date("2027-03-20T08:00:00.000Z");

interface Plan {
  id: string;
}
const agreed = (from: Date, id = "flat", quantity: number | null = null): Terms<Plan> => ({
  from,
  plan: { id },
  quantity,
});
const history = (given: Partial<History<Plan>> = {}): History<Plan> => ({
  terms: [agreed(march)],
  pauses: [],
  trialEndsAt: null,
  cancelledAt: null,
  ...given,
});

describe("the charged days of April", () => {
  for (const [what, given, expected] of [
    ["a subscription since March", {}, { flat: 30 }],
    ["one that begins on the 21st, which counts in full", { terms: [agreed(at(21, "23:59"))] }, { flat: 10 }],
    ["one that begins in May", { terms: [agreed(new Date("2027-05-01T00:00:00.000Z"))] }, {}],
    ["one that was cancelled on the 10th, which counts in full", { cancelledAt: at(10, "00:01") }, { flat: 10 }],
    ["one that was cancelled at the end of the 9th", { cancelledAt: at(10, "00:00") }, { flat: 9 }],
    ["one that was cancelled in March", { cancelledAt: new Date("2027-03-31T23:00:00.000Z") }, {}],
    ["one that began and ended on the 5th", { terms: [agreed(at(5))], cancelledAt: at(5, "11:00") }, { flat: 1 }],
    ["a trial until the 15th, which is free", { terms: [agreed(at(1))], trialEndsAt: at(15) }, { flat: 15 }],
    [
      "a pause from the 10th to the 16th: the 11th to the 16th",
      { pauses: [{ from: at(10), to: at(16) }] },
      { flat: 24 },
    ],
    ["a pause within a day", { pauses: [{ from: at(10), to: at(10, "12:00") }] }, { flat: 30 }],
    ["a pause that lasts", { pauses: [{ from: at(10), to: null }] }, { flat: 10 }],
    [
      "two pauses",
      {
        pauses: [
          { from: at(1), to: at(3) },
          { from: at(10), to: at(12) },
        ],
      },
      { flat: 26 },
    ],
    [
      "another plan since the 10th, from the 11th",
      { terms: [agreed(march), agreed(at(10), "team", 4)] },
      { flat: 10, team: 20 },
    ],
    [
      "two changes on a day: the last one",
      { terms: [agreed(march), agreed(at(10), "team"), agreed(at(10, "11:00"), "group")] },
      { flat: 10, group: 20 },
    ],
    [
      "a change on the first day, which is what was first agreed",
      { terms: [agreed(at(30)), agreed(at(30, "11:00"), "team")] },
      { flat: 1 },
    ],
    [
      "a change and back: the days of a plan together",
      { terms: [agreed(march), agreed(at(10), "team"), agreed(at(20))] },
      { flat: 20, team: 10 },
    ],
  ] as [string, Partial<History<Plan>>, Record<string, number>][]) {
    test(what, () => {
      const days = groupChargedDays(findDaysInForce("2027-04", history(given)));
      assert.deepEqual(Object.fromEntries(days.map(({ plan, days: count }) => [plan.id, count])), expected);
    });
  }

  test("each quantity by itself", () => {
    const terms = [agreed(march, "team", 3), agreed(at(15), "team", 5)] as const;
    assert.deepEqual(groupChargedDays(findDaysInForce("2027-04", history({ terms: [...terms] }))), [
      { plan: { id: "team" }, quantity: 3, days: 15 },
      { plan: { id: "team" }, quantity: 5, days: 15 },
    ]);
  });
});

test("the usage of a day that began in a pause counts, unlike that of a trial", () => {
  const days = findDaysInForce("2027-04", history({ pauses: [{ from: at(10), to: at(11) }], trialEndsAt: at(2) }));
  const free = days.filter(({ isTrial, isPaused }) => isTrial || isPaused);
  assert.deepEqual(
    free.map(({ start, isTrial }) => [start.getUTCDate(), isTrial]),
    [
      [1, true],
      [2, true],
      [11, false],
    ],
  );
});

test("months have the days of the calendar, in leap years too", () => {
  assert.deepEqual(
    ["2027-02", "2028-02", "2100-02", "2027-12", "2027-04"].map((each) => daysInMonth(each as "2027-02")),
    [28, 29, 28, 31, 30],
  );
  assert.deepEqual(
    ["2027-02", "2028-12", "2100-01"].map((each) => daysInYear(each as "2027-02")),
    [365, 366, 365],
  );
  assert.deepEqual([nextMonth("2027-01"), nextMonth("2027-12")], ["2027-02", "2028-01"]);
});
