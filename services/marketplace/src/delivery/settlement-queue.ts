import { createBatchWriter } from "@ehr-marketplace/service-kit/database";
import { type Settlement, type SettlementDeps, settleDelivered, settleFailed, settleResponses } from "./settle.ts";

const maxPerBatch = 100;
const maxConcurrentFailed = 4;

export interface SettlementQueue {
  /** Resolves once the delivery is settled or settling has failed. */
  add(settlement: Settlement): Promise<void>;
}

/**
 * Delivered deliveries are settled in batches. Failed ones are settled one by one in a separate queue, and so are responses of failing
 * origins: they lock recipients and origins, and delivered ones must not wait for those locks.
 */
export function createSettlementQueue(deps: SettlementDeps): SettlementQueue {
  // The attempt's outcome stays `unknown`, and the delivery is sent again.
  const logFailure = (error: unknown, settlements: Settlement[]): void =>
    deps.logger.warn(
      { err: error, deliveryIds: settlements.map(({ delivery }) => delivery.id) },
      "failed to settle deliveries; retrying after their leases expire",
    );
  /** Returns the delivery's origin if it is failing or held. */
  const delivered = createBatchWriter<Settlement, string | undefined>({
    maxBatchSize: maxPerBatch,
    maxConcurrentWrites: 1,
    async write(settlements) {
      const failingOrigins = await settleDelivered(deps, settlements).catch((error: unknown) => {
        logFailure(error, settlements);
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
        await settleFailed(deps, settlement).catch((error: unknown) => logFailure(error, [settlement]));
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
