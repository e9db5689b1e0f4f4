import type { SpendLimitBody, SpendLimitDto } from "@ehr-marketplace/contracts";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import type { RequestContext } from "../access/request-context.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { type LockedSubscription, lockOwnSubscription } from "../subscriptions/lock-subscription.ts";
import { subscriptionProblems } from "../subscriptions/subscription-errors.ts";
import { billingProblems } from "./billing-errors.ts";
import { enforceSpendLimit } from "./enforce-spend-limit.ts";
import { estimateSubscription } from "./estimate-subscription.ts";
import { formatAmount } from "./format-amount.ts";
import type { BillingDeps } from "./read-estimate.ts";
import type { SpendLimit } from "./spend-limit.ts";
import { deleteSpendLimit, findSpendLimit, upsertSpendLimit } from "./spend-limit-store.ts";

export type SpendLimitDeps = BillingDeps & { queue: Queue };

const limitRoles: readonly Role[] = ["org-admin", "operator"];

/** A limit that is reached already is noticed, and pauses, at once. */
export async function setSpendLimit(
  { database, clock, queue }: SpendLimitDeps,
  by: RequestContext,
  id: string,
  { amount, onReached, confirm = false }: SpendLimitBody,
): Promise<SpendLimitDto> {
  const now = clock();
  return database.transaction().execute(async (transaction) => {
    const { locked, role } = await lockOwnSubscription(transaction, by, id, limitRoles);
    if (locked.row.status === "cancelled") {
      throw new Problem(subscriptionProblems.cancelled, `Subscription ${id} is cancelled.`);
    }
    const before = await findSpendLimit(transaction, id);
    const limit: SpendLimit = { amount: BigInt(amount), onReached };
    const { currency } = locked.row.pricing_plan;
    if (before?.amount !== limit.amount || before.onReached !== onReached) {
      if (!confirm) await requireAboveCost(transaction, id, limit, now);
      const { issuer, subject } = by.caller;
      const setBy = { issuer, subject, role, requestId: by.requestId };
      await upsertSpendLimit(transaction, id, { ...limit, setBy, updatedAt: now });
      await recordChange(transaction, { by, role, locked, before, after: limit, now });
      await enforceSpendLimit(transaction, queue, id, now);
    }
    return { amount, currency, onReached };
  });
}

/** A limit that is reached already pauses an app that people work with, if that is what it does. */
async function requireAboveCost(transaction: Transaction<DB>, id: string, limit: SpendLimit, now: Date): Promise<void> {
  const { accountTotal: total, month, currency } = await estimateSubscription(transaction, id, now);
  if (limit.amount >= total) return;
  const spent = `${formatAmount(total, currency)} ${currency}`;
  throw new Problem(billingProblems.limitBelowCost, `${month} has cost ${spent} so far. Nothing was changed.`);
}

export async function removeSpendLimit(
  { database, clock }: Omit<SpendLimitDeps, "queue">,
  by: RequestContext,
  id: string,
): Promise<void> {
  const now = clock();
  await database.transaction().execute(async (transaction) => {
    const { locked, role } = await lockOwnSubscription(transaction, by, id, limitRoles);
    const before = await findSpendLimit(transaction, id);
    if (before === undefined) return;
    await deleteSpendLimit(transaction, id);
    await recordChange(transaction, { by, role, locked, before, after: undefined, now });
  });
}

interface LimitChange {
  by: RequestContext;
  role: Role;
  locked: LockedSubscription;
  before: SpendLimit | undefined;
  after: SpendLimit | undefined;
  now: Date;
}

async function recordChange(
  transaction: Transaction<DB>,
  { by, role, locked, before, after, now }: LimitChange,
): Promise<void> {
  const audited = (limit: SpendLimit | undefined) =>
    limit === undefined ? null : { amount: Number(limit.amount), onReached: limit.onReached };
  await recordAudit(transaction, {
    by,
    role,
    at: now,
    onBehalfOf: locked.row.org_alias,
    action: after === undefined ? "subscription.remove-spend-limit" : "subscription.set-spend-limit",
    target: { kind: "subscription", id: locked.row.id },
    before: audited(before),
    after: audited(after),
  });
}
