import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import type { Author } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { type NewNotice, subscriptionPage } from "../notices/notice.ts";
import { recordNotice } from "../notices/record-notice.ts";
import { type LockedSubscription, lockAnySubscription } from "../subscriptions/lock-subscription.ts";
import { pauseForSpendLimit } from "../subscriptions/pause-for-spend-limit.ts";
import { estimateSubscription } from "./estimate-subscription.ts";
import { formatAmount } from "./format-amount.ts";
import type { LimitInForce } from "./limit-in-force.ts";
import type { LimitedBatch } from "./limit-usage.ts";
import { type Month, toMonth } from "./month.ts";
import { upsertReachedLimit } from "./reached-limit-store.ts";
import { findLeastLimit } from "./require-below-spend-limit.ts";
import { decideSpend, findLeastRaise } from "./spend-limit.ts";

/** Whose request makes the spend grow. */
export type LimitAuthor = Author & { role: Role };

export interface LimitToEnforce {
  id: string;
  limit: LimitInForce;
  by: LimitAuthor;
  now: Date;
}

/**
 * Notices that a subscription has reached its limit, and pauses it, if that is what its organisation has decided. The caller has locked the
 * subscription, so concurrent batches of usage are noticed once, and pause once.
 */
export async function enforceSpendLimit(
  transaction: Transaction<DB>,
  queue: Queue,
  enforced: LimitToEnforce,
): Promise<void> {
  const { id, limit, now } = enforced;
  const { accountTotal: total, month } = await estimateSubscription(transaction, id, now);
  const leastAmount = await findLeastLimit(transaction, id, { limit, month });
  await enforce(transaction, queue, { ...enforced, total, month, isExceeded: leastAmount !== undefined, leastAmount });
}

/** After a batch of usage. Where a record was refused, the limit is reached, too: otherwise the app would be free from then on. */
export async function enforceUsageLimit(
  transaction: Transaction<DB>,
  queue: Queue,
  { totals, exceeded }: LimitedBatch,
  enforced: LimitToEnforce,
): Promise<void> {
  const { id, limit, now } = enforced;
  const current = toMonth(now);
  for (const [month, total] of totals) {
    const cost = exceeded.get(month);
    if (month !== current && cost === undefined) continue;
    const leastAmount = cost === undefined ? undefined : findLeastRaise(limit, cost);
    if (month === current && leastAmount !== undefined) {
      await upsertReachedLimit(transaction, id, { month, leastAmount });
    }
    await enforce(transaction, queue, { ...enforced, total, month, isExceeded: cost !== undefined, leastAmount });
  }
}

/** In the audit log, of a limit that no person has set. */
const operatorsDefault = { issuer: "marketplace", subject: "default-limit", role: "operator" };

interface Spent extends LimitToEnforce {
  total: bigint;
  month: Month;
  /** Usage was refused. */
  isExceeded: boolean;
  /** How far the limit has to be raised then. */
  leastAmount: bigint | undefined;
}

async function enforce(transaction: Transaction<DB>, queue: Queue, spent: Spent): Promise<void> {
  const { id, limit, by, total, month, isExceeded, now } = spent;
  const { reachedPercent, pauses } = decideSpend(limit, total, isExceeded);
  if (reachedPercent === null) return;
  const locked = await lockAnySubscription(transaction, id);
  // Usage of before the pause may follow it: that was told with the pause.
  if (locked === undefined || locked.row.pause_reason === "SPEND_LIMIT") return;
  // A month that is over pauses nothing.
  const pausesNow = pauses && month === toMonth(now) && locked.row.status === "active";
  await recordNotice(transaction, noticeOf(locked, { ...spent, percent: reachedPercent, pausesNow }));
  if (!pausesNow) return;
  const { issuer, subject, role, requestId } = limit.setBy ?? { ...operatorsDefault, requestId: by.requestId };
  const author = { caller: { issuer, subject }, requestId };
  await pauseForSpendLimit(transaction, queue, { locked, by: author, role: role as Role, now });
}

interface ReachedLimit extends Spent {
  percent: 80 | 100;
  pausesNow: boolean;
}

/** Known by the limit as it was set, so that a changed one is noticed by itself; a pause by the change that it is. */
function noticeOf({ row, app }: LockedSubscription, reached: ReachedLimit): NewNotice {
  const { limit, percent, pausesNow, total, month, now } = reached;
  const { currency } = row.pricing_plan;
  const spent = `${formatAmount(total, currency)} of ${formatAmount(limit.amount, currency)} ${currency}`;
  const version = limit.updatedAt?.toISOString() ?? `default ${limit.amount}`;
  return {
    audience: { organisationId: row.organisation_id },
    kind: "spend-limit",
    severity: row.status === "cancelled" ? "info" : percent === 100 ? "critical" : "warning",
    subject: `${app.name} ${describe(reached)}: ${spent} in ${month} (${row.org_alias})`,
    detail: adviceOf(reached, row),
    link: subscriptionPage(row.org_alias, row.id),
    key: `spend-limit ${row.id} ${month} ${percent} ${version}${pausesNow ? ` ${row.revision}` : ""}`,
    at: now,
  };
}

function describe({ isExceeded, pausesNow, percent }: ReachedLimit): string {
  if (!isExceeded) return `has reached ${percent} % of its limit`;
  return pausesNow ? "is paused at its limit" : "had no more room below its limit";
}

function adviceOf(reached: ReachedLimit, row: LockedSubscription["row"]): string {
  const { limit, percent, isExceeded, leastAmount, pausesNow } = reached;
  const { onReached } = limit;
  if (percent === 80)
    return `At 100 % ${onReached === "pause" ? "it is paused" : "you are told"}. Raise the limit if it is too low.`;
  if (onReached === "notify")
    return "It can still be used. Raise the limit, or pause the app if it should cost no more this month.";
  const refused = isExceeded ? "Usage that would have cost more was rejected. " : "";
  if (row.status === "cancelled") return `${refused}You don't need to do anything.`;
  if (isExceeded && !pausesNow) return `${refused}The vendor can report it again if you raise the limit.`;
  if (!pausesNow) return "It is paused already. Raise the limit before you resume it.";
  const { currency } = row.pricing_plan;
  const least = leastAmount === undefined ? "" : ` to at least ${formatAmount(leastAmount, currency)} ${currency}`;
  return `${refused}It is paused. To use it, raise the limit${least} and resume it, or resume it next month.`;
}
