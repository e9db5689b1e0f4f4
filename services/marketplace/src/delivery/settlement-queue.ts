import { setTimeout as delay } from "node:timers/promises";
import { createBatchWriter, isDatabaseUnavailable } from "@ehr-marketplace/service-kit/database";
import { type Settlement, type SettlementDeps, settleDelivered, settleFailed, settleResponses } from "./settle.ts";

const maxPerBatch = 100;
const maxConcurrentFailed = 4;

/** Deliveries that end within this time are settled together: under load, a transaction serves several. */
const settleIntervalMs = 20;
/** The lease of a job is longer than a request and these retries. */
const maxRetryMs = 15_000;
const retryPauseMs = 200;

export interface SettlementQueueDeps extends SettlementDeps {
  stopped: AbortSignal;
  /** Called when deliveries could not be settled because the database was unavailable. */
  onUnsettled: () => void;
}

export interface SettlementQueue {
  /** Resolves once the delivery is settled or settling has failed. */
  add(settlement: Settlement): Promise<void>;
}

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
    if (isDatabaseUnavailable(error)) deps.onUnsettled();
  };
  /** While the database is unavailable, results are kept and settled later, so that their deliveries aren't sent again. */
  const retryWhileUnavailable = async <T>(settle: () => Promise<T>): Promise<T> => {
    const until = performance.now() + maxRetryMs;
    for (;;) {
      try {
        return await settle();
      } catch (error) {
        if (!isDatabaseUnavailable(error) || deps.stopped.aborted || performance.now() > until) throw error;
        await delay(retryPauseMs, undefined, { signal: deps.stopped }).catch(() => undefined);
      }
    }
  };
  /** Returns the delivery's origin if it is failing or held. */
  const delivered = createBatchWriter<Settlement, string | undefined>({
    maxBatchSize: maxPerBatch,
    maxConcurrentWrites: 1,
    minIntervalMs: settleIntervalMs,
    async write(settlements) {
      const settled = retryWhileUnavailable(() => settleDelivered(deps, settlements));
      const failingOrigins = await settled.catch((error: unknown) => {
        handleFailure(error, settlements);
        return [];
      });
      return settlements.map(({ delivery }) => failingOrigins.find((origin) => origin === delivery.origin));
    },
  });
  const failed = createBatchWriter<Settlement, void>({
    maxBatchSize: 1,
    maxConcurrentWrites: maxConcurrentFailed,
    async write(settlements) {
      for (const settlement of settlements) {
        const settled = retryWhileUnavailable(() => settleFailed(deps, settlement));
        await settled.catch((error: unknown) => handleFailure(error, [settlement]));
      }
      return settlements.map(() => undefined);
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
      if (settlement.result.outcome === "failed") return failed(settlement);
      const failingOrigin = await delivered(settlement);
      if (failingOrigin !== undefined) await responded(failingOrigin);
    },
  };
}
