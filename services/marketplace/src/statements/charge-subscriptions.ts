import { mapInSlices } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import { toChargeLine } from "../billing/charge-line.ts";
import { chargeMonth, linesOf } from "../billing/charge-month.ts";
import { beginsAt } from "../billing/charged-days.ts";
import { readCredits } from "../billing/credits.ts";
import { type Month, periodOf } from "../billing/month.ts";
import { totalOf } from "../billing/price.ts";
import type { DB } from "../database-schema.ts";
import type { KnownPlans } from "../subscriptions/known-plans.ts";
import { type AccountedSubscription, type ReadAccount, readAccounts } from "../subscriptions/read-accounts.ts";
import { type PlanUsage, readDailyUsage } from "../usage/read-daily-usage.ts";
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
export const chargedSince = ({ month, corrections }: ChargeOptions): Date => beginsAt(corrections?.months[0] ?? month);

/** The lines of subscriptions in a month, with the corrections of earlier ones and the month's credits, in the order of their ids. Lines of nothing are left out. */
export async function chargeSubscriptions(
  database: Kysely<DB>,
  ids: readonly string[],
  options: ChargeOptions,
): Promise<ChargedLine[]> {
  const { month, now } = options;
  const accounts = await readAccounts(database, ids, chargedSince(options), options.plans);
  const usage = await readUsageOf(database, accounts, month);
  const charged = await mapInSlices(accounts, (account) =>
    chargeMonth({ month, account, usage: usageOf(account, usage) }, now),
  );
  const lines = Map.groupBy(charged.flat(), ({ subscriptionId }) => subscriptionId);
  const corrections = await correct(database, accounts, options);
  const credits = Map.groupBy(await readCredits(database, ids, month), ({ subscriptionId }) => subscriptionId);
  const charging = new Set(ids);
  const subscriptions = accounts.flat().filter(({ id }) => charging.has(id));
  return subscriptions
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .flatMap((subscription) => {
      const own = (lines.get(subscription.id) ?? []).filter(({ amount }) => amount !== 0n);
      const ofMonth = own.map((line): Line => ({ ...toChargeLine(line), adjusts: null, creditId: null }));
      const credited = (credits.get(subscription.id) ?? []).map(
        ({ id, line }): Line => ({ ...line, adjusts: null, creditId: id }),
      );
      return numberLines(subscription, [...ofMonth, ...(corrections.get(subscription.id) ?? []), ...credited]);
    });
}

const isMetered = (account: ReadAccount): boolean =>
  account.some(({ periods }) => periods.some(({ plan }) => plan.pricingModel === "USAGE"));

type UsageBySubscription = Map<string, PlanUsage[]>;

async function readUsageOf(
  database: Kysely<DB>,
  accounts: readonly ReadAccount[],
  month: Month,
): Promise<UsageBySubscription> {
  const ids = accounts.filter(isMetered).flatMap((account) => account.map(({ id }) => id));
  const usage = ids.length === 0 ? [] : await readDailyUsage(database, ids, periodOf(month));
  return Map.groupBy(usage, ({ subscriptionId }) => subscriptionId);
}

/** In the order of the days, also of several subscriptions, of which the next one begins when the one before has ended. */
const usageOf = (account: ReadAccount, usage: UsageBySubscription): PlanUsage[] =>
  account.flatMap(({ id }) => usage.get(id) ?? []);

type Line = Omit<ChargedLine, keyof ReturnType<typeof describe> | "number">;

const describe = ({
  id,
  organisationId,
  orgAlias,
  vendorId,
  appId,
  appSlug,
  appName,
  plan,
}: AccountedSubscription) => ({
  subscriptionId: id,
  organisationId,
  orgAlias,
  vendorId,
  appId,
  appSlug,
  appName,
  currency: plan.currency,
});

function numberLines(subscription: AccountedSubscription, lines: readonly Line[]): ChargedLine[] {
  const described = describe(subscription);
  return lines.map((line, index) => ({ ...described, number: index + 1, ...line }));
}

/**
 * For each subscription of an account whose closed months cost something else than when they were closed, because usage was reported late or
 * because of a subscription that began soon after: what they cost now less what they were charged.
 */
async function correct(
  database: Kysely<DB>,
  accounts: readonly ReadAccount[],
  { corrections }: ChargeOptions,
): Promise<Map<string, Line[]>> {
  const corrected = new Map<string, Line[]>();
  if (corrections === undefined) return corrected;
  const { months, reportedSince } = corrections;
  const ids = accounts.flatMap((account) => account.map(({ id }) => id));
  const late = await readLateUsage(database, ids, { months, reportedSince });
  for (const month of months) {
    const changed = new Set(late.filter((each) => each.month === month).map(({ subscriptionId }) => subscriptionId));
    const affected = accounts.filter((account) => account.some(({ id }) => changed.has(id)));
    if (affected.length === 0) continue;
    const usage = await readUsageOf(database, affected, month);
    const charged = await findCharged(
      database,
      affected.flatMap((account) => account.map(({ id }) => id)),
      month,
    );
    const costs = await mapInSlices(affected, (account) => {
      const lines = chargeMonth({ month, account, usage: usageOf(account, usage) });
      return account.map(({ id }) => ({ id, cost: totalOf(linesOf(lines, id)) }));
    });
    for (const { id, cost } of costs.flat()) {
      const line = correctMonth(month, cost - (charged.get(id) ?? 0n));
      if (line !== undefined) corrected.set(id, [...(corrected.get(id) ?? []), line]);
    }
  }
  return corrected;
}

/** What is taken back has a negative quantity, so that an amount is always the quantity × the price of a unit. */
export function correctMonth(month: Month, difference: bigint): Line | undefined {
  if (difference === 0n) return undefined;
  const size = difference < 0n ? -difference : difference;
  return {
    description: `Correction of ${month}`,
    quantity: difference < 0n ? "-1" : "1",
    unitAmount: Number.isSafeInteger(Number(size)) ? Number(size) : `${size}.0`,
    days: null,
    intervalDays: null,
    amount: difference,
    adjusts: month,
    creditId: null,
  };
}
