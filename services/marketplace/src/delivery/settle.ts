import { useGenericPlans } from "@ehr-marketplace/service-kit/database";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { deliveries } from "../queue/queues.ts";
import { type OriginChange, recordFailure, recordResponses, recordSuccesses } from "../recipients/record-results.ts";
import { type AttemptResult, refusalsToFail } from "./attempt-result.ts";
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
  logger: Logger;
}

export interface Settlement {
  delivery: ClaimedDelivery;
  result: AttemptResult;
  isProbe: boolean;
  /** The job as it was fetched. After it was taken over, or its lease has expired, another worker may own it, and this one must not settle it. */
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

function logChanges(logger: Logger, changes: OriginChange[]): void {
  for (const { origin, status } of changes) {
    if (status === "held") logger.warn({ origin }, "callback origin is held; probing it every minute");
    else logger.info({ origin }, "callback origin has responded; sending its waiting deliveries");
  }
}

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

/**
 * Settles delivered deliveries in one batch: closes their attempts, queues their successors, and reactivates held recipients. Returns
 * the origins for which `settleResponses` has to be called.
 */
export async function settleDelivered(deps: SettlementDeps, settlements: Settlement[]): Promise<string[]> {
  const { database, queue, clock } = deps;
  return database.transaction().execute(async (transaction) => {
    const orderingKeys = orderingKeysOf(settlements);
    await lockOrderingKeys(
      transaction,
      orderingKeys.map(({ subscriptionId }) => subscriptionId),
    );
    await closeAttempts(
      transaction,
      settlements.map((each) => toClosedAttempt(each, null)),
    );
    // Not before: a plan that doesn't depend on values would lock all partitions of the attempts.
    await useGenericPlans(transaction);
    const owned = await filterOwned(transaction, queue, settlements);
    if (owned.length === 0) return [];
    const now = clock();
    await markDelivered(
      transaction,
      owned.map(({ delivery }) => delivery.id),
      now,
    );
    const origins = owned.flatMap(({ delivery }) => delivery.origin ?? []);
    const recipientIds = owned.map(({ delivery }) => delivery.recipient_id);
    const succeeded = { recipientIds: [...new Set(recipientIds)], origins: [...new Set(origins)] };
    const { failingOrigins } = await recordSuccesses(transaction, queue, succeeded, now);
    await insertJobs(transaction, queue, await queueSuccessors(transaction, orderingKeysOf(owned)));
    return failingOrigins;
  });
}

/** Records that the hosts of these origins have responded. If it fails, the next response or probe repeats it. */
export async function settleResponses(deps: SettlementDeps, origins: string[]): Promise<void> {
  const { database, queue, clock, logger } = deps;
  logChanges(logger, await recordResponses(database, queue, origins, clock()));
}

/**
 * Settles one failed attempt: schedules a retry, sets the delivery to waiting when its recipient or origin is held, or fails it and
 * queues its successor. An event that an EHR doesn't know fails after at most three refusals, which don't count against the EHR.
 */
export async function settleFailed(deps: SettlementDeps, settlement: Settlement): Promise<void> {
  const { database, queue, clock, random, logger } = deps;
  const { delivery, result, isProbe } = settlement;
  const { id, recipient_id, origin, isRedelivery } = delivery;
  const changes = await database.transaction().execute(async (transaction) => {
    await lockOrderingKeys(
      transaction,
      orderingKeysOf([settlement]).map(({ subscriptionId }) => subscriptionId),
    );
    const now = clock();
    const refusals = refusalsToFail(delivery, result);
    const isRefusal = refusals !== undefined;
    // A refused probe counts: otherwise a held EHR could be probed with the same event for ever.
    const failures = delivery.failures + (isProbe && !isRefusal ? 0 : 1);
    const delayMs =
      failures >= (refusals ?? maxFailures)
        ? undefined
        : retryDelayMs(Math.max(failures, 1), result.retryAfterMs, random);
    const nextAttemptAt = delayMs === undefined ? null : new Date(now.getTime() + delayMs);
    const owned = await filterOwned(transaction, queue, [settlement]);
    if (owned.length === 0) {
      await closeAttempts(transaction, [toClosedAttempt(settlement, null)]);
      return [];
    }
    const recorded = await recordFailure(transaction, queue, {
      deliveryId: id,
      recipientId: recipient_id,
      origin,
      reachability: isRefusal ? "responded" : result.reachability,
      isProbe,
      isGone: result.gone,
      isRefusal,
      at: now,
    });
    // A delivery that waits for its recipient or origin has no next attempt time: another delivery may be the probe.
    await closeAttempts(transaction, [toClosedAttempt(settlement, recorded.mustWait ? null : nextAttemptAt)]);
    if (nextAttemptAt === null) {
      await updateUnsettled(transaction, id, { status: "failed", failures, settled_at: now, next_attempt_at: null });
      await insertJobs(transaction, queue, await queueSuccessors(transaction, orderingKeysOf([settlement])));
    } else if (recorded.mustWait) {
      await updateUnsettled(transaction, id, { status: "waiting", failures, next_attempt_at: null });
    } else {
      await updateUnsettled(transaction, id, { status: "queued", failures, next_attempt_at: nextAttemptAt });
      await insertJobs(transaction, queue, [{ id, recipient_id, isRedelivery, startAfter: nextAttemptAt }]);
    }
    return recorded.changes;
  });
  logChanges(logger, changes);
}
