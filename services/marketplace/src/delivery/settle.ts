import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { deliveries } from "../queue/queues.ts";
import { recordOriginFailure, recordResponses } from "../recipients/apply-origin-event.ts";
import { applyRecipientEvent, recordSuccesses } from "../recipients/apply-recipient-event.ts";
import type { AttemptResult } from "./attempt-result.ts";
import type { ClaimedDelivery } from "./claim-store.ts";
import { deleteOwnedJobs, insertJobs } from "./delivery-jobs.ts";
import { lockOrderingKeys, queueSuccessors } from "./queue-store.ts";
import { maxFailures, retryDelayMs } from "./retry-schedule.ts";
import { closeAttempts, findLatest, markDelivered, updateUnsettled } from "./settle-store.ts";

export interface SettlementDeps {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  random: () => number;
}

export interface Settlement {
  delivery: ClaimedDelivery;
  result: AttemptResult;
  isProbe: boolean;
  /** The job as it was fetched. After its lease has expired, another worker may own it, and this one must not settle it. */
  job: { id: string; retryCount: number };
}

const toClosedAttempt = ({ delivery, result }: Settlement, nextAttemptAt: Date | null) => ({
  id: delivery.attempt_id,
  startedAt: delivery.started_at,
  durationMs: result.durationMs,
  outcome: result.outcome,
  statusCode: result.statusCode,
  error: result.error,
  snippet: result.snippet,
  nextAttemptAt,
});

const orderingKeysOf = (settlements: Settlement[]): { subscriptionId: string; recipientId: string }[] =>
  settlements.flatMap(({ delivery: { subscription_id, recipient_id } }) =>
    subscription_id === null ? [] : [{ subscriptionId: subscription_id, recipientId: recipient_id }],
  );

/** An origin that had no failures when the delivery was claimed needs no reset. */
const failingOriginsOf = (settlements: Settlement[]): string[] => [
  ...new Set(settlements.flatMap(({ delivery }) => (delivery.origin_failing ? (delivery.origin ?? []) : []))),
];

/** Filters by attempt and by job: `retryCount` alone can't tell, as a job that was replaced has the same id and starts from 0. */
async function filterOwned(
  transaction: Transaction<DB>,
  queue: Queue,
  settlements: Settlement[],
): Promise<Settlement[]> {
  const latest = await findLatest(
    transaction,
    settlements.map(({ delivery }) => delivery),
  );
  const claimed = settlements.filter(({ delivery }) => latest.has(delivery.id));
  if (claimed.length === 0) return [];
  const jobs = claimed.map(({ job: { id, retryCount } }) => ({ id, retryCount }));
  const owned = await deleteOwnedJobs(transaction, queue, deliveries, jobs);
  return claimed.filter(({ job }) => owned.has(job.id));
}

/** Settles delivered deliveries in one batch: closes their attempts, queues their successors, and reactivates held recipients. */
export async function settleDelivered(deps: SettlementDeps, settlements: Settlement[]): Promise<void> {
  const { database, queue, clock } = deps;
  await database.transaction().execute(async (transaction) => {
    const orderingKeys = orderingKeysOf(settlements);
    await lockOrderingKeys(
      transaction,
      orderingKeys.map(({ subscriptionId }) => subscriptionId),
    );
    await closeAttempts(
      transaction,
      settlements.map((each) => toClosedAttempt(each, null)),
    );
    const owned = await filterOwned(transaction, queue, settlements);
    if (owned.length === 0) return;
    const now = clock();
    await markDelivered(
      transaction,
      owned.map(({ delivery }) => delivery.id),
      now,
    );
    await recordResponses(transaction, queue, failingOriginsOf(owned), now);
    await recordSuccesses(transaction, queue, [...new Set(owned.map(({ delivery }) => delivery.recipient_id))], now);
    await insertJobs(transaction, queue, await queueSuccessors(transaction, orderingKeysOf(owned)));
  });
}

/** Returns whether the origin of the EHR's callback is held; an endpoint has none. */
async function recordOriginFailureOf(
  transaction: Transaction<DB>,
  queue: Queue,
  { delivery: { id, origin, recipient_id }, result: { reachability } }: Settlement,
  at: Date,
): Promise<boolean> {
  if (origin === null) return false;
  return recordOriginFailure(transaction, queue, {
    origin,
    reachability,
    deliveryId: id,
    recipientId: recipient_id,
    at,
  });
}

/** Settles one failed attempt: schedules a retry, sets the delivery to waiting when its recipient or origin is held, or fails it and queues its successor. */
export async function settleFailed(deps: SettlementDeps, settlement: Settlement): Promise<void> {
  const { database, queue, clock, random } = deps;
  const { delivery, result, isProbe } = settlement;
  await database.transaction().execute(async (transaction) => {
    await lockOrderingKeys(
      transaction,
      orderingKeysOf([settlement]).map(({ subscriptionId }) => subscriptionId),
    );
    const now = clock();
    const failures = delivery.failures + (isProbe ? 0 : 1);
    const delayMs =
      failures >= maxFailures ? undefined : retryDelayMs(Math.max(failures, 1), result.retryAfterMs, random);
    const nextAttemptAt = delayMs === undefined ? null : new Date(now.getTime() + delayMs);
    const owned = await filterOwned(transaction, queue, [settlement]);
    if (owned.length === 0) {
      await closeAttempts(transaction, [toClosedAttempt(settlement, null)]);
      return;
    }
    // Before the recipient, as the recovery of an origin locks them in this order.
    const isOriginHeld = await recordOriginFailureOf(transaction, queue, settlement, now);
    const { state: recipient } = await applyRecipientEvent(transaction, queue, delivery.recipient_id, {
      type: "delivery-failed",
      at: now,
      isProbe,
      isGone: result.gone,
    });
    const isHeld = recipient.status !== "active" || isOriginHeld;
    // A held recipient's delivery has no next attempt time: another delivery may be the probe.
    await closeAttempts(transaction, [toClosedAttempt(settlement, isHeld ? null : nextAttemptAt)]);
    if (nextAttemptAt === null) {
      await updateUnsettled(transaction, delivery.id, {
        status: "failed",
        failures,
        settled_at: now,
        next_attempt_at: null,
      });
      await insertJobs(transaction, queue, await queueSuccessors(transaction, orderingKeysOf([settlement])));
    } else if (isHeld) {
      await updateUnsettled(transaction, delivery.id, { status: "waiting", failures, next_attempt_at: null });
    } else {
      await updateUnsettled(transaction, delivery.id, { status: "queued", failures, next_attempt_at: nextAttemptAt });
      await insertJobs(transaction, queue, [{ ...delivery, startAfter: nextAttemptAt }]);
    }
  });
}
