import { setTimeout as delay } from "node:timers/promises";
import { createBatchWriter, isDatabaseUnavailable } from "@ehr-marketplace/service-kit/database";
import type { FetchedAttempt } from "./delivery-jobs.ts";
import { type Settlement, type SettlementDeps, settleDelivered, settleFailed, settleResponses } from "./settle.ts";

const maxPerBatch = 100;
const maxConcurrentFailed = 4;

/** Deliveries that end within this time are settled together: under load, a transaction serves several. */
const settleIntervalMs = 20;
/** The lease of a job is longer than it may wait for a slot, its request, and these retries together. */
const maxRetryMs = 10_000;
const retryPauseMs = 200;

export interface SettlementQueueDeps extends SettlementDeps {
  stopped: AbortSignal;
  /** Called when deliveries that this worker has fetched were neither settled nor returned. */
  onLost: (jobs: FetchedAttempt[]) => void;
}

export interface SettlementQueue {
  /** Resolves once the delivery is settled or settling has failed. */
  add(settlement: Settlement): Promise<void>;
}

interface Result {
  settlement: Settlement;
  endedAt: number;
}

/** A lock was not released in time. The next statement might wait as long. */
const isStatementTimeout = (error: unknown): boolean => (error as { code?: unknown }).code === "57014";

/**
 * Delivered deliveries are settled in batches. Failed ones are settled one by one in a separate queue, and so are responses of failing
 * origins: they lock recipients and origins, and delivered ones must not wait for those locks.
 */
export function createSettlementQueue(deps: SettlementQueueDeps): SettlementQueue {
  // The attempt's outcome stays `unknown`, and the delivery is sent again.
  const handleFailure = (error: unknown, settlements: Settlement[]): void => {
    deps.logger.warn(
      { err: error, deliveryIds: settlements.map(({ delivery }) => delivery.id) },
      "failed to settle deliveries; retrying them",
    );
    // For other errors, wait until the lease expires: they may be repeated each time.
    if (isDatabaseUnavailable(error)) deps.onLost(settlements.map(({ job }) => job));
  };
  /** While the database is unavailable, results are kept and settled later, so that their deliveries aren't sent again. */
  const retryWhileUnavailable = async <T>(results: Result[], settle: () => Promise<T>): Promise<T> => {
    const until = Math.min(...results.map(({ endedAt }) => endedAt)) + maxRetryMs;
    for (;;) {
      try {
        return await settle();
      } catch (error) {
        const isOutage = isDatabaseUnavailable(error) && !isStatementTimeout(error);
        if (!isOutage || deps.stopped.aborted || performance.now() > until) throw error;
        await delay(retryPauseMs, undefined, { signal: deps.stopped }).catch(() => undefined);
      }
    }
  };
  /** Returns the delivery's origin if it is failing or held. */
  const delivered = createBatchWriter<Result, string | undefined>({
    maxBatchSize: maxPerBatch,
    maxConcurrentWrites: 1,
    minIntervalMs: settleIntervalMs,
    async write(results) {
      const settlements = results.map(({ settlement }) => settlement);
      const settled = retryWhileUnavailable(results, () => settleDelivered(deps, settlements));
      const failingOrigins = await settled.catch((error: unknown) => {
        handleFailure(error, settlements);
        return [];
      });
      return settlements.map(({ delivery }) => failingOrigins.find((origin) => origin === delivery.origin));
    },
  });
  const failed = createBatchWriter<Result, void>({
    maxBatchSize: 1,
    maxConcurrentWrites: maxConcurrentFailed,
    async write(results) {
      for (const result of results) {
        const settled = retryWhileUnavailable([result], () => settleFailed(deps, result.settlement));
        await settled.catch((error: unknown) => handleFailure(error, [result.settlement]));
      }
      return results.map(() => undefined);
    },
  });
  const responded = createBatchWriter<string, void>({
    maxBatchSize: maxPerBatch,
    maxConcurrentWrites: 1,
    async write(origins) {
      await settleResponses(deps, [...new Set(origins)]).catch((error: unknown) =>
        deps.logger.warn(
          { err: error, origins },
          "failed to record responses of origins; retrying at the next response",
        ),
      );
      return origins.map(() => undefined);
    },
  });
  return {
    async add(settlement) {
      const result = { settlement, endedAt: performance.now() };
      if (settlement.result.outcome === "failed") return failed(result);
      const failingOrigin = await delivered(result);
      if (failingOrigin !== undefined) await responded(failingOrigin);
    },
  };
}
