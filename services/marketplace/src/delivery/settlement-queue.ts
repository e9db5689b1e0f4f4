import { createBatchWriter } from "@ehr-marketplace/service-kit/database";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { type Settlement, type SettlementDeps, settleDelivered, settleFailed } from "./settle.ts";

const maxDeliveredPerBatch = 100;
const maxConcurrentFailed = 4;

export interface SettlementQueue {
  /** Resolves once the delivery is settled or settling has failed. */
  add(settlement: Settlement): Promise<void>;
}

/**
 * Delivered deliveries are settled in batches. Failed ones are settled one by one in a separate queue: each locks its recipient, and
 * delivered ones must not wait for those locks.
 */
export function createSettlementQueue(deps: SettlementDeps & { logger: Logger }): SettlementQueue {
  const createWriter = (
    maxBatchSize: number,
    maxConcurrentWrites: number,
    settle: (settlements: Settlement[]) => Promise<unknown>,
  ) =>
    createBatchWriter<Settlement, void>({
      maxBatchSize,
      maxConcurrentWrites,
      async write(settlements) {
        try {
          await settle(settlements);
        } catch (error) {
          // The attempt's outcome stays `unknown`, and the delivery is sent again after its lease expires.
          const message = "failed to settle deliveries; sending them again after their leases expire";
          deps.logger.warn({ err: error, deliveries: settlements.length }, message);
        }
        return settlements.map(() => undefined);
      },
    });
  const delivered = createWriter(maxDeliveredPerBatch, 1, (settlements) => settleDelivered(deps, settlements));
  const failed = createWriter(1, maxConcurrentFailed, async (settlements) => {
    for (const settlement of settlements) await settleFailed(deps, settlement);
  });
  return {
    add: (settlement) => (settlement.result.outcome === "delivered" ? delivered : failed)(settlement),
  };
}
