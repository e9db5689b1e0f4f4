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
import { enforceSpendLimit, type LimitAuthor } from "./enforce-spend-limit.ts";
import { estimateSubscription } from "./estimate-subscription.ts";
import { formatAmount } from "./format-amount.ts";
import { defaultLimit, type LimitInForce } from "./limit-in-force.ts";
import { type BillingDeps, toSpendLimit } from "./read-estimate.ts";
import type { SpendLimit } from "./spend-limit.ts";
import { deleteSpendLimit, findSpendLimit, upsertSpendLimit } from "./spend-limit-store.ts";

export type SpendLimitDeps = BillingDeps & { queue: Queue };

const limitRoles: readonly Role[] = ["org-admin", "operator"];

/** A limit that is reached already is noticed, and pauses, at once. */
export async function setSpendLimit(
  { database, clock, queue }: Omit<SpendLimitDeps, "usageLimits">,
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
      const stored = await storeLimit(transaction, { id, limit, by: { ...by, role }, now });
      await recordChange(transaction, { by, role, locked, before, after: limit, now });
      await enforceSpendLimit(transaction, queue, { id, limit: stored, by: { ...by, role }, now });
    }
    return toSpendLimit({ ...limit, isDefault: false }, currency);
  });
}

interface NewLimit {
  id: string;
  limit: SpendLimit;
  by: LimitAuthor;
  now: Date;
}

/** Of a subscription that begins with a limit. What its account has cost before counts. */
export async function setFirstLimit(transaction: Transaction<DB>, first: NewLimit): Promise<void> {
  await requireAboveCost(transaction, first.id, first.limit, first.now);
  await storeLimit(transaction, first);
}

async function storeLimit(transaction: Transaction<DB>, { id, limit, by, now }: NewLimit): Promise<LimitInForce> {
  const { issuer, subject } = by.caller;
  const stored = { ...limit, setBy: { issuer, subject, role: by.role, requestId: by.requestId }, updatedAt: now };
  await upsertSpendLimit(transaction, id, stored);
  return { ...stored, isDefault: false };
}

/** A limit that is reached already pauses an app that people work with, if that is what it does. */
async function requireAboveCost(transaction: Transaction<DB>, id: string, limit: SpendLimit, now: Date): Promise<void> {
  const { accountTotal: total, month, currency } = await estimateSubscription(transaction, id, now);
  if (limit.amount >= total) return;
  const spent = `${formatAmount(total, currency)} ${currency}`;
  throw new Problem(billingProblems.limitBelowCost, `${month} has cost ${spent} so far. Nothing was changed.`);
}

/** A plan with usage has the operator's default again. */
export async function removeSpendLimit(
  { database, clock, usageLimits }: Omit<SpendLimitDeps, "queue">,
  by: RequestContext,
  id: string,
): Promise<void> {
  const now = clock();
  await database.transaction().execute(async (transaction) => {
    const { locked, role } = await lockOwnSubscription(transaction, by, id, limitRoles);
    const before = await findSpendLimit(transaction, id);
    if (before === undefined) return;
    const { pricing_plan: plan, status } = locked.row;
    if (plan.pricingModel === "USAGE" && status !== "cancelled") {
      await requireAboveCost(transaction, id, defaultLimit(usageLimits, plan.currency), now);
    }
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
