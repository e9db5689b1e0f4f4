import { setImmediate as nextTurn } from "node:timers/promises";
import type { Kysely } from "kysely";
import { toChargeLine } from "../billing/charge-line.ts";
import { type BilledMonth, chargeMonth, estimateMonth } from "../billing/charge-month.ts";
import { type Month, periodOf } from "../billing/month.ts";
import { totalOf } from "../billing/price.ts";
import type { DB } from "../database-schema.ts";
import { type KnownPlans, readHistories, type SubscriptionHistory } from "../subscriptions/read-history.ts";
import { type DailyUsage, readDailyUsage } from "../usage/read-daily-usage.ts";
import { readLateUsage } from "../usage/read-late-usage.ts";
import type { ChargedLine } from "./charged-line.ts";
import { findCharged } from "./line-store.ts";
import type { Corrections } from "./statement-month.ts";

export interface Charging {
  month: Month;
  /** The days until now are charged. */
  now: Date;
  corrections: Corrections | undefined;
  plans?: KnownPlans;
}

const sliceMs = 10;

/** Whoever calculates many months lets others in between, after each slice of time. */
function createPauses(): () => Promise<void> {
  let sliceEnd = performance.now() + sliceMs;
  return async () => {
    if (performance.now() < sliceEnd) return;
    await nextTurn();
    sliceEnd = performance.now() + sliceMs;
  };
}

/** The first time that has to be read: that of the earliest month which may be corrected. */
export const chargedSince = ({ month, corrections }: Charging): Date => periodOf(corrections?.months[0] ?? month).from;

/** The lines of subscriptions in a month, with the corrections of earlier ones, in the order of their ids. Lines of nothing are left out. */
export async function chargeSubscriptions(
  database: Kysely<DB>,
  ids: readonly string[],
  charging: Charging,
): Promise<ChargedLine[]> {
  const histories = await readHistories(database, ids, chargedSince(charging), charging.plans);
  const usage = await readDailyUsage(database, meteredOf(histories), periodOf(charging.month));
  const corrections = await correct(database, ids, histories, charging);
  const lines: ChargedLine[] = [];
  const pauseIfLong = createPauses();
  for (const history of histories) {
    await pauseIfLong();
    const billed = { month: charging.month, history, usage: usage.get(history.id) ?? [] };
    lines.push(...numberLines(history, [...chargeUntil(billed, charging.now), ...(corrections.get(history.id) ?? [])]));
  }
  return lines;
}

const meteredOf = (histories: readonly SubscriptionHistory[]): string[] =>
  histories.filter(({ terms }) => terms.some(({ plan }) => plan.pricingModel === "USAGE")).map(({ id }) => id);

type Line = Omit<ChargedLine, keyof ReturnType<typeof describe> | "number">;

function chargeUntil(billed: BilledMonth, now: Date): Line[] {
  const isOver = periodOf(billed.month).to <= now;
  const lines = isOver ? chargeMonth(billed) : estimateMonth(billed, now).lines;
  return lines.filter(({ amount }) => amount !== 0n).map((line) => ({ ...toChargeLine(line), adjusts: null }));
}

const describe = ({ id, organisationId, orgAlias, vendorId, appId, appSlug, appName, terms }: SubscriptionHistory) => ({
  subscriptionId: id,
  organisationId,
  orgAlias,
  vendorId,
  appId,
  appSlug,
  appName,
  currency: terms[0].plan.currency,
});

function numberLines(history: SubscriptionHistory, lines: readonly Line[]): ChargedLine[] {
  const described = describe(history);
  return lines.map((line, index) => ({ ...described, number: index + 1, ...line }));
}

/** For each subscription with usage that was reported late, what its closed months cost now less what they were charged. */
async function correct(
  database: Kysely<DB>,
  ids: readonly string[],
  histories: readonly SubscriptionHistory[],
  { corrections }: Charging,
): Promise<Map<string, Line[]>> {
  const corrected = new Map<string, Line[]>();
  if (corrections === undefined) return corrected;
  const { months, reportedSince } = corrections;
  const late = await readLateUsage(database, ids, { months, reportedSince });
  for (const month of months) {
    const ofMonth = new Set(late.filter((each) => each.month === month).map(({ subscriptionId }) => subscriptionId));
    if (ofMonth.size === 0) continue;
    const usage = await readDailyUsage(database, [...ofMonth], periodOf(month));
    const charged = await findCharged(database, [...ofMonth], month);
    const pauseIfLong = createPauses();
    for (const history of histories.filter(({ id }) => ofMonth.has(id))) {
      await pauseIfLong();
      const line = correctMonth({ month, history, usage: usage.get(history.id) ?? [] }, charged.get(history.id) ?? 0n);
      if (line !== undefined) corrected.set(history.id, [...(corrected.get(history.id) ?? []), line]);
    }
  }
  return corrected;
}

/** A credit has a negative quantity, so that an amount is always the quantity × the price of a unit. */
export function correctMonth(
  billed: BilledMonth & { usage: readonly DailyUsage[] },
  charged: bigint,
): Line | undefined {
  const difference = totalOf(chargeMonth(billed)) - charged;
  if (difference === 0n) return undefined;
  const size = difference < 0n ? -difference : difference;
  return {
    description: `Correction of ${billed.month}`,
    quantity: difference < 0n ? "-1" : "1",
    unitAmount: Number.isSafeInteger(Number(size)) ? Number(size) : `${size}.0`,
    days: null,
    intervalDays: null,
    amount: difference,
    adjusts: billed.month,
  };
}
