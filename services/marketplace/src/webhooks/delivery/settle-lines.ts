import { writeTogether } from "@ehr-marketplace/service-kit/database";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { type Settlement, type Settling, settleDelivered, settleFailed } from "./settle.ts";

const mostSettledTogether = 100;
const mostFailedAtOnce = 4;

export interface SettleLines {
  /** Resolves once it is settled, or can't be. */
  add(settlement: Settlement): Promise<void>;
}

/**
 * Deliveries that arrived are settled together. Those that failed go one by one in lines of their own: each locks its
 * recipient, and what arrived doesn't wait behind them.
 */
export function createSettleLines(settling: Settling & { logger: Logger }): SettleLines {
  const lineOf = (most: number, atOnce: number, settle: (settlements: Settlement[]) => Promise<unknown>) =>
    writeTogether<Settlement, void>({
      most,
      atOnce,
      async write(settlements) {
        try {
          await settle(settlements);
        } catch (error) {
          // It was sent and can't be settled: its log row stays `unknown`, and its lease brings it back.
          const message = "deliveries can't be settled; they will be sent again";
          settling.logger.warn({ err: error, deliveries: settlements.length }, message);
        }
        return settlements.map(() => undefined);
      },
    });
  const delivered = lineOf(mostSettledTogether, 1, (settlements) => settleDelivered(settling, settlements));
  const failed = lineOf(1, mostFailedAtOnce, async (settlements) => {
    for (const settlement of settlements) await settleFailed(settling, settlement);
  });
  return {
    add: (settlement) => (settlement.verdict.outcome === "delivered" ? delivered : failed)(settlement),
  };
}
