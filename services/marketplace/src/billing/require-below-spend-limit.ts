import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { billingProblems } from "./billing-errors.ts";
import { estimateSubscription } from "./estimate-subscription.ts";
import { isReached } from "./spend-limit.ts";
import { findSpendLimit } from "./spend-limit-store.ts";

/** A pause at the limit ends once the limit is raised or removed, or the month is over. */
export async function requireBelowSpendLimit(transaction: Transaction<DB>, id: string, now: Date): Promise<void> {
  const limit = await findSpendLimit(transaction, id);
  if (limit === undefined) return;
  const {
    accountTotal: total,
    currency,
    month,
  } = await estimateSubscription(transaction, id, now, { isResumed: true });
  if (!isReached(limit, total)) return;
  const detail = `Subscription ${id} has cost ${total} in ${month}, and its limit is ${limit.amount}, in the minor unit of ${currency}.`;
  throw new Problem(billingProblems.spendLimitReached, detail);
}
