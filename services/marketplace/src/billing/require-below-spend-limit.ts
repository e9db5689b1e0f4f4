import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { billingProblems } from "./billing-errors.ts";
import { estimateSubscription } from "./estimate-subscription.ts";
import { formatAmount } from "./format-amount.ts";
import type { LimitInForce } from "./limit-in-force.ts";
import type { Month } from "./month.ts";
import { findReachedLimit } from "./reached-limit-store.ts";
import { isReached } from "./spend-limit.ts";

interface LimitedSubscription {
  id: string;
  limit: LimitInForce | undefined;
  now: Date;
}

/** A pause at the limit ends once the limit is raised or removed, or the month is over. */
export async function requireBelowSpendLimit(
  transaction: Transaction<DB>,
  { id, limit, now }: LimitedSubscription,
): Promise<void> {
  if (limit === undefined) return;
  const {
    accountTotal: total,
    currency,
    month,
  } = await estimateSubscription(transaction, id, now, { isResumed: true });
  const least = await findLeastLimit(transaction, id, { limit, month });
  if (least === undefined && !isReached(limit, total)) return;
  const amount = (minor: bigint): string => `${formatAmount(minor, currency)} ${currency}`;
  const raise = least === undefined ? "" : ` Usage was rejected: raise the limit to at least ${amount(least)}.`;
  const detail = `Subscription ${id} has cost ${amount(total)} in ${month}, and its limit is ${amount(limit.amount)}.${raise}`;
  throw new Problem(billingProblems.spendLimitReached, detail);
}

/** Terms that cost more don't take the month to a limit that pauses: the app would be paused by the change. */
export async function requireTermsBelowLimit(
  transaction: Transaction<DB>,
  { id, limit, now }: LimitedSubscription & { limit: LimitInForce },
  totalBefore: bigint,
): Promise<void> {
  if (limit.onReached === "notify") return;
  const { accountTotal: total, currency, month } = await estimateSubscription(transaction, id, now);
  if (!isReached(limit, total) || total <= totalBefore) return;
  const amount = (minor: bigint): string => `${formatAmount(minor, currency)} ${currency}`;
  const detail = `With these terms ${month} costs ${amount(total)} so far, and the limit is ${amount(limit.amount)}. Nothing was changed.`;
  throw new Problem(billingProblems.spendLimitReached, detail);
}

/** How far a limit that pauses has to be raised, because usage was refused in the month; undefined if it needn't. */
export async function findLeastLimit(
  database: Kysely<DB>,
  id: string,
  { limit, month }: { limit: LimitInForce; month: Month },
): Promise<bigint | undefined> {
  if (limit.onReached === "notify") return undefined;
  const reached = await findReachedLimit(database, id);
  const isStillReached = reached?.month === month && limit.amount < reached.leastAmount;
  return isStillReached ? reached.leastAmount : undefined;
}
