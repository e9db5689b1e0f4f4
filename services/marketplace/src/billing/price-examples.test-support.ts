import type { Month } from "./month.ts";
import { flat, perUnit, tiered, tiers, usage } from "./price.test-support.ts";
import type { ChargedDays, ChargedUsage } from "./price.ts";

interface Example {
  /** The plan, in words. */
  plan: string;
  /** What happened in the month. */
  happened: string;
  month: Month;
  days?: ChargedDays[];
  usage?: ChargedUsage[];
  /** Each line's calculation, in words, with its amount in cents. */
  lines: [calculation: string, amount: bigint][];
}

const graduated = tiers("GRADUATED", [10, 1_000], [50, 800], [null, 500]);
const volume = tiers("VOLUME", [10, 1_000], [50, 800], [null, 500]);

/** Of `docs/prices.md`. */
export const examples: Example[] = [
  {
    plan: "$49.00 a month",
    happened: "In force all of April",
    month: "2027-04",
    days: [{ plan: flat(4_900), quantity: 1, days: 30 }],
    lines: [["49.00 × 30/30", 4_900n]],
  },
  {
    plan: "$49.00 a month",
    happened: "Subscribed on 21 April: 10 days",
    month: "2027-04",
    days: [{ plan: flat(4_900), quantity: 1, days: 10 }],
    lines: [["49.00 × 10/30", 1_633n]],
  },
  {
    plan: "$49.00 a month",
    happened: "In force all of February of a leap year",
    month: "2028-02",
    days: [{ plan: flat(4_900), quantity: 1, days: 29 }],
    lines: [["49.00 × 29/29", 4_900n]],
  },
  {
    plan: "$490.00 a year",
    happened: "In force all of January",
    month: "2027-01",
    days: [{ plan: flat(49_000, "YEAR"), quantity: 1, days: 31 }],
    lines: [["490.00 × 31/365", 4_162n]],
  },
  {
    plan: "$490.00 a year",
    happened: "In force all of January of a leap year",
    month: "2028-01",
    days: [{ plan: flat(49_000, "YEAR"), quantity: 1, days: 31 }],
    lines: [["490.00 × 31/366", 4_150n]],
  },
  {
    plan: "$49.00 a month, 14 days of trial",
    happened: "Subscribed on 1 April at 10:00; the trial ends on 15 April at 10:00: 14 days are free, 16 remain",
    month: "2027-04",
    days: [{ plan: flat(4_900), quantity: 1, days: 16 }],
    lines: [["49.00 × 16/30", 2_613n]],
  },
  {
    plan: "$12.00 a provider and month, 2 included",
    happened: "5 providers, paused on 5 April, resumed on 18 April: from 12 to 17 April, 6 days are free",
    month: "2027-04",
    days: [{ plan: perUnit(1_200, 2), quantity: 5, days: 24 }],
    lines: [["3 × 12.00 × 24/30", 2_880n]],
  },
  {
    plan: "$12.00 a provider and month",
    happened: "3 providers, and 5 from 16 April",
    month: "2027-04",
    days: [
      { plan: perUnit(1_200), quantity: 3, days: 15 },
      { plan: perUnit(1_200), quantity: 5, days: 15 },
    ],
    lines: [
      ["3 × 12.00 × 15/30", 1_800n],
      ["5 × 12.00 × 15/30", 3_000n],
    ],
  },
  {
    plan: "$49.00 a month, from 11 April $12.00 a provider and month",
    happened: "4 providers",
    month: "2027-04",
    days: [
      { plan: flat(4_900), quantity: 1, days: 10 },
      { plan: perUnit(1_200), quantity: 4, days: 20 },
    ],
    lines: [
      ["49.00 × 10/30", 1_633n],
      ["4 × 12.00 × 20/30", 3_200n],
    ],
  },
  {
    plan: "GRADUATED: $10.00 a provider to the 10th, $8.00 to the 50th, then $5.00",
    happened: "60 providers, all of April",
    month: "2027-04",
    days: [{ plan: tiered(graduated), quantity: 60, days: 30 }],
    lines: [
      ["10 × 10.00 × 30/30", 10_000n],
      ["40 × 8.00 × 30/30", 32_000n],
      ["10 × 5.00 × 30/30", 5_000n],
    ],
  },
  {
    plan: "VOLUME: $10.00 a provider up to 10, $8.00 up to 50, $5.00 above",
    happened: "60 providers, all of April",
    month: "2027-04",
    days: [{ plan: tiered(volume), quantity: 60, days: 30 }],
    lines: [["60 × 5.00 × 30/30", 30_000n]],
  },
  {
    plan: "$0.45 a note, 100 included",
    happened: "250 notes",
    month: "2027-04",
    usage: [{ plan: usage({ amount: 45 }, 100), quantity: "250" }],
    lines: [["150 × 0.45", 6_750n]],
  },
  {
    plan: "$0.45 a note, 100 included",
    happened: "80 notes",
    month: "2027-04",
    usage: [{ plan: usage({ amount: 45 }, 100), quantity: "80" }],
    lines: [],
  },
  {
    plan: "$0.0045 a minute",
    happened: "1,000.5 minutes",
    month: "2027-04",
    usage: [{ plan: usage({ amount: "0.45" }), quantity: "1000.5" }],
    lines: [["1,000.5 × 0.0045", 450n]],
  },
  {
    plan: "GRADUATED: $0.10 a note to the 100th, then $0.05, with $5.00 once",
    happened: "250 notes",
    month: "2027-04",
    usage: [{ plan: usage(tiers("GRADUATED", [100, 10], [null, 5, 500])), quantity: "250" }],
    lines: [
      ["100 × 0.10", 1_000n],
      ["150 × 0.05", 750n],
      ["1 × 5.00", 500n],
    ],
  },
];
