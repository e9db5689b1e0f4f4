import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import type { NewNotice } from "../notices/notice.ts";
import { recordNotice } from "../notices/record-notice.ts";
import { type LockedSubscription, lockAnySubscription } from "../subscriptions/lock-subscription.ts";
import { pauseForSpendLimit } from "../subscriptions/pause-for-spend-limit.ts";
import { estimateSubscription } from "./estimate-subscription.ts";
import { formatAmount } from "./format-amount.ts";
import { decideSpend } from "./spend-limit.ts";
import { deferLimit, type StoredLimit } from "./spend-limit-store.ts";

/**
 * Notices that a subscription has reached its limit, and pauses it, if that is what its organisation has decided. The caller has locked the
 * subscription, so concurrent batches of usage are noticed once, and pause once.
 */
export async function enforceSpendLimit(
  transaction: Transaction<DB>,
  queue: Queue,
  id: string,
  now: Date,
): Promise<void> {
  await (await deferSpendLimit(transaction, id))(queue, now);
}

/** The same in two steps: the limit is read with the next statement, and enforced by the returned function. */
export async function deferSpendLimit(
  transaction: Transaction<DB>,
  id: string,
): Promise<(queue: Queue, now: Date) => Promise<void>> {
  const readLimit = await deferLimit(transaction, id);
  return async (queue, now) => {
    const limit = await readLimit();
    if (limit !== undefined) await enforce(transaction, queue, { id, limit, now });
  };
}

async function enforce(
  transaction: Transaction<DB>,
  queue: Queue,
  { id, limit, now }: { id: string; limit: StoredLimit; now: Date },
): Promise<void> {
  const { accountTotal: total, month, currency } = await estimateSubscription(transaction, id, now);
  const { reachedPercent, pauses } = decideSpend(limit, total);
  if (reachedPercent === null) return;
  const locked = await lockAnySubscription(transaction, id);
  // Usage of before the pause may follow it: that was told with the pause.
  if (locked === undefined || locked.row.pause_reason === "SPEND_LIMIT") return;
  await recordNotice(
    transaction,
    noticeOf(locked, { limit, percent: reachedPercent, pauses, total, month, currency, now }),
  );
  if (!pauses) return;
  const { issuer, subject, role, requestId } = limit.setBy;
  const by = { caller: { issuer, subject }, requestId };
  await pauseForSpendLimit(transaction, queue, { locked, by, role: role as Role, now });
}

interface ReachedLimit {
  limit: StoredLimit;
  percent: 80 | 100;
  pauses: boolean;
  total: bigint;
  month: string;
  currency: string;
  now: Date;
}

/** Known by the limit as it was set, so that a changed one is noticed by itself; a pause by the change that it is. */
function noticeOf(
  { row, app }: LockedSubscription,
  { limit, percent, pauses, total, month, currency, now }: ReachedLimit,
): NewNotice {
  const isPausedNow = pauses && row.status === "active";
  const spent = `${formatAmount(total, currency)} of ${formatAmount(limit.amount, currency)} ${currency}`;
  return {
    audience: { organisationId: row.organisation_id },
    kind: "spend-limit",
    severity: percent === 100 ? "critical" : "warning",
    subject: `${app.name} has reached ${percent} % of its limit: ${spent} in ${month} (${row.org_alias})`,
    detail: adviceOf(limit, percent),
    link: `/api/v1/subscriptions/${row.id}/estimate`,
    key: `spend-limit ${row.id} ${month} ${percent} ${limit.updatedAt.toISOString()}${isPausedNow ? ` ${row.revision}` : ""}`,
    at: now,
  };
}

function adviceOf({ onReached }: StoredLimit, percent: 80 | 100): string {
  if (percent === 80)
    return `At 100 % ${onReached === "pause" ? "it is paused" : "you are told"}. Raise the limit if it is too low.`;
  return onReached === "pause"
    ? "It is paused. To use it, raise the limit and resume it, or resume it next month."
    : "It can still be used. Raise the limit, or pause the app if it should cost no more this month.";
}
