import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { UsageRecord } from "@ehr-marketplace/contracts";
import { assertCpuTime } from "@ehr-marketplace/test-kit/cpu-time";
import { formatQuantity, parseQuantity, trimDecimal } from "./decimal.ts";
import { changeHours } from "./usage-hours.ts";
import { decideBatch, type MeteredSubscription, type StoredRecord } from "./usage-record.ts";

const now = new Date("2027-04-20T12:00:00.000Z");
const minutes = (count: number): string => new Date(now.getTime() + count * 60_000).toISOString();
const days = (count: number): string => minutes(count * 1_440);

const dayBefore = days(-1);
const agreed = (from: Date, plan: MeteredSubscription["terms"][0]["plan"]) => ({ from, plan });
const byTheNote = { id: "by the note", name: "By the note", metric: "notes", aggregation: "SUM" } as const;
const solo = { id: "solo", name: "Solo", metric: null, aggregation: null };

const subscription: MeteredSubscription = {
  createdAt: new Date("2027-01-01T00:00:00.000Z"),
  cancelledAt: null,
  trialEndsAt: null,
  pauses: [],
  terms: [agreed(new Date(0), byTheNote)],
};
const record = (given: Partial<UsageRecord> = {}): UsageRecord => ({
  id: "r1",
  metric: "notes",
  quantity: 1,
  occurredAt: minutes(-1),
  ...given,
});
const stored = (given: Partial<StoredRecord> = {}): StoredRecord => ({
  id: "r1",
  occurredAt: new Date(minutes(-1)),
  metric: "notes",
  quantity: 1_000_000n,
  aggregation: "SUM",
  planId: byTheNote.id,
  isTrial: false,
  voided: false,
  ...given,
});
const voiding = (given: Partial<UsageRecord> = {}): UsageRecord => ({
  id: "r1",
  occurredAt: minutes(-1),
  void: true,
  ...given,
});

const unlimited = { allowance: 500, refused: new Set<string>() };

const decide = (
  records: UsageRecord[],
  known: StoredRecord[] = [],
  given: Partial<MeteredSubscription> = {},
): [string, string | null][] =>
  decideBatch(records, known, { ...subscription, ...given }, now, unlimited).results.map(({ status, reason }) => [
    status,
    reason,
  ]);

describe("a record", () => {
  for (const [what, given, about, known, expected] of [
    ["is accepted", {}, {}, [], ["accepted", null]],
    ["with a decimal string is accepted", { quantity: "0.000001" }, {}, [], ["accepted", null]],
    ["of 0 is accepted", { quantity: 0 }, {}, [], ["accepted", null]],
    ["35 days old is accepted", { occurredAt: days(-35) }, {}, [], ["accepted", null]],
    [
      "older is rejected",
      { occurredAt: new Date(Date.parse(days(-35)) - 1).toISOString() },
      {},
      [],
      ["rejected", "occurredAt is more than 35 days ago."],
    ],
    ["5 minutes ahead is accepted", { occurredAt: minutes(5) }, {}, [], ["accepted", null]],
    [
      "further ahead is rejected",
      { occurredAt: minutes(6) },
      {},
      [],
      ["rejected", "occurredAt is more than 5 minutes ahead."],
    ],
    [
      "at a leap second is rejected",
      { occurredAt: "2027-04-19T23:59:60Z" },
      {},
      [],
      ["rejected", "occurredAt isn't a time."],
    ],
    [
      "without a metric is rejected",
      { metric: undefined },
      {},
      [],
      ["rejected", "A record has a metric and a quantity."],
    ],
    [
      "of another metric is rejected",
      { metric: "pages" },
      {},
      [],
      ["rejected", 'The plan of that time, "By the note", charges the metric "notes".'],
    ],
    [
      "of a plan without usage is rejected",
      {},
      { terms: [agreed(new Date(0), solo)] },
      [],
      ["rejected", 'The plan of that time, "Solo", charges no usage.'],
    ],
    [
      "of before the plan changed has the plan of that time",
      { occurredAt: dayBefore },
      { terms: [agreed(new Date(0), byTheNote), agreed(new Date(Date.parse(dayBefore) + 1), solo)] },
      [],
      ["accepted", null],
    ],
    [
      "of the moment at which the plan changed has the new one",
      {},
      { terms: [agreed(new Date(0), byTheNote), agreed(new Date(minutes(-1)), solo)] },
      [],
      ["rejected", 'The plan of that time, "Solo", charges no usage.'],
    ],
    ["before the subscription is rejected", {}, { createdAt: now }, [], ["rejected", "The subscription began later."]],
    ["before its cancellation is accepted", {}, { cancelledAt: now }, [], ["accepted", null]],
    [
      "at its cancellation is rejected",
      {},
      { cancelledAt: new Date(minutes(-1)) },
      [],
      ["rejected", "The subscription was cancelled before."],
    ],
    ["before a pause is accepted", {}, { pauses: [{ from: now, to: null }] }, [], ["accepted", null]],
    [
      "in a pause is rejected",
      {},
      { pauses: [{ from: new Date(minutes(-1)), to: now }] },
      [],
      ["rejected", "The subscription was paused at that time."],
    ],
    [
      "at the end of a pause is accepted",
      {},
      { pauses: [{ from: new Date(minutes(-9)), to: new Date(minutes(-1)) }] },
      [],
      ["accepted", null],
    ],
    ["that is known is a duplicate", {}, {}, [stored()], ["duplicate", null]],
    ["that is known, in other digits, is a duplicate", { quantity: "1.000" }, {}, [stored()], ["duplicate", null]],
    [
      "that is known is a duplicate also in a later pause",
      {},
      { pauses: [{ from: new Date(0), to: null }] },
      [stored()],
      ["duplicate", null],
    ],
    [
      "that is known with another quantity is rejected",
      { quantity: 2 },
      {},
      [stored()],
      ["rejected", "The record is known, with another quantity or metric: 1 notes."],
    ],
    ["of the same id on another day is accepted", { occurredAt: days(-1) }, {}, [stored()], ["accepted", null]],
    [
      "that was voided is rejected",
      {},
      {},
      [stored({ voided: true })],
      ["rejected", "The record was voided, and its id stays used: choose another one."],
    ],
  ] as [string, Partial<UsageRecord>, Partial<MeteredSubscription>, StoredRecord[], [string, string | null]][]) {
    test(what, () => assert.deepEqual(decide([record(given)], known, about), [expected]));
  }

  for (const quantity of [
    -1,
    0.1 + 0.2,
    1e21,
    2 ** 53,
    1e-7,
    "1e3",
    "-1",
    "",
    " 1",
    "1.",
    ".5",
    "1.0000001",
    "0x10",
    "9".repeat(16),
    "NaN",
  ]) {
    test(`with the quantity ${JSON.stringify(quantity)} is rejected`, () => {
      assert.equal(decide([record({ quantity })])[0]?.[0], "rejected");
    });
  }
});

describe("a void", () => {
  test("takes a known record back, once", () => {
    const batch = decideBatch([voiding(), voiding()], [stored()], subscription, now, unlimited);
    assert.deepEqual(
      batch.results.map(({ status }) => status),
      ["accepted", "duplicate"],
    );
    assert.deepEqual(batch.voided, [stored({ voided: true })]);
  });
  test("of an unknown record is rejected", () => {
    assert.deepEqual(decide([voiding()]), [["rejected", "No record with this id and day is known."]]);
  });
  test("is possible in a pause, because the record was counted before", () => {
    assert.deepEqual(decide([voiding()], [stored()], { pauses: [{ from: new Date(0), to: null }] }), [
      ["accepted", null],
    ]);
  });
});

test("records of one batch are decided in their order", () => {
  const batch = [record(), record(), record({ quantity: 2 }), voiding(), record()];
  assert.deepEqual(
    decide(batch).map(([status]) => status),
    ["accepted", "duplicate", "rejected", "accepted", "rejected"],
  );
});

test("quantities are exact in both directions", () => {
  for (const [text, millionths, shown] of [
    ["0", 0n, "0"],
    ["1", 1_000_000n, "1"],
    ["0.1", 100_000n, "0.1"],
    ["123456789012345.123456", 123_456_789_012_345_123_456n, "123456789012345.123456"],
    ["10.50", 10_500_000n, "10.5"],
  ] as const) {
    assert.equal(parseQuantity(text), millionths);
    assert.equal(formatQuantity(millionths), shown);
  }
  assert.deepEqual(["10", "10.500000", "0.000000", "100.000000"].map(trimDecimal), ["10", "10.5", "0", "100"]);
});

test("the hours of a batch have its sums, counts, maxima and latest quantities, in order", () => {
  const at = (time: string): Date => new Date(`2027-04-19T${time}.000Z`);
  const some = (["SUM", "COUNT", "MAX", "LATEST"] as const).flatMap((aggregation) => [
    stored({ aggregation, id: "b", occurredAt: at("10:30:00"), quantity: 2_500_000n }),
    stored({ aggregation, id: "a", occurredAt: at("10:30:00"), quantity: 7_000_000n }),
    stored({ aggregation, id: "c", occurredAt: at("09:59:59"), quantity: 1n }),
  ]);
  const { added } = changeHours({ counted: some, voided: [] });
  assert.deepEqual(
    added.map(({ hour, aggregation, quantity, recordCount, latestId }) => [
      hour.slice(11, 13),
      aggregation,
      quantity,
      recordCount,
      latestId,
    ]),
    [
      ["09", "COUNT", "1", 1, null],
      ["09", "LATEST", "0.000001", 1, "c"],
      ["09", "MAX", "0.000001", 1, null],
      ["09", "SUM", "0.000001", 1, null],
      ["10", "COUNT", "2", 2, null],
      ["10", "LATEST", "2.5", 2, "b"],
      ["10", "MAX", "7", 2, null],
      ["10", "SUM", "9.5", 2, null],
    ],
  );
});

test("a batch of 500 records in 12,600 pauses is decided without blocking", () => {
  const begin = new Date(days(-34)).getTime();
  const pauses = Array.from({ length: 12_600 }, (_, index) => ({
    from: new Date(begin + index * 200_000),
    to: new Date(begin + index * 200_000 + 100_000),
  }));
  const records = Array.from({ length: 500 }, (_, index) =>
    record({ id: `r${index}`, occurredAt: new Date(begin + index * 5_000_000 + 50_000).toISOString() }),
  );
  assertCpuTime(200, () => {
    const { results } = decideBatch(records, [], { ...subscription, pauses }, now, unlimited);
    assert.deepEqual(new Set(results.map(({ status }) => status)), new Set(["rejected"]));
  });
});
