import { mapInSlices } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import { toChargeLine } from "../billing/charge-line.ts";
import { type BilledMonth, chargeMonth } from "../billing/charge-month.ts";
import { type Month, periodOf } from "../billing/month.ts";
import { totalOf } from "../billing/price.ts";
import type { DB } from "../database-schema.ts";
import { type KnownPlans, readHistories, type SubscriptionHistory } from "../subscriptions/read-history.ts";
import { readDailyUsage } from "../usage/read-daily-usage.ts";
import { readLateUsage } from "../usage/read-late-usage.ts";
import type { ChargedLine } from "./charged-line.ts";
import { findCharged } from "./line-store.ts";
import type { Corrections } from "./statement-month.ts";

export interface ChargeOptions {
  month: Month;
  /** The days until now are charged. */
  now: Date;
  corrections: Corrections | undefined;
  plans?: KnownPlans;
}

/** The first time that has to be read: that of the earliest month which may be corrected. */
export const chargedSince = ({ month, corrections }: ChargeOptions): Date =>
  periodOf(corrections?.months[0] ?? month).from;

/** The lines of subscriptions in a month, with the corrections of earlier ones, in the order of their ids. Lines of nothing are left out. */
export async function chargeSubscriptions(
  database: Kysely<DB>,
  ids: readonly string[],
  options: ChargeOptions,
): Promise<ChargedLine[]> {
  const histories = await readHistories(database, ids, chargedSince(options), options.plans);
  const usage = await readDailyUsage(database, meteredOf(histories), periodOf(options.month));
  const corrections = await correct(database, ids, histories, options);
  const { month, now } = options;
  const lines = await mapInSlices(histories, (history) => {
    const charged = chargeUntil({ month, history, usage: usage.get(history.id) ?? [] }, now);
    return numberLines(history, [...charged, ...(corrections.get(history.id) ?? [])]);
  });
  return lines.flat();
}

const meteredOf = (histories: readonly SubscriptionHistory[]): string[] =>
  histories.filter(({ terms }) => terms.some(({ plan }) => plan.pricingModel === "USAGE")).map(({ id }) => id);

type Line = Omit<ChargedLine, keyof ReturnType<typeof describe> | "number">;

function chargeUntil(billed: BilledMonth, now: Date): Line[] {
  const lines = chargeMonth(billed, now);
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
  { corrections }: ChargeOptions,
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
    const affected = histories.filter(({ id }) => ofMonth.has(id));
    const lines = await mapInSlices(affected, (history) =>
      correctMonth({ month, history, usage: usage.get(history.id) ?? [] }, charged.get(history.id) ?? 0n),
    );
    for (const [index, line] of lines.entries()) {
      const id = affected[index]?.id;
      if (id !== undefined && line !== undefined) corrected.set(id, [...(corrected.get(id) ?? []), line]);
    }
  }
  return corrected;
}

/** A credit has a negative quantity, so that an amount is always the quantity × the price of a unit. */
export function correctMonth(billed: BilledMonth, charged: bigint): Line | undefined {
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
