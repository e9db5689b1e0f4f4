import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { type Settlement, type Settling, settleDelivered, settleFailed } from "./settle.ts";

const mostSettledTogether = 100;
const mostFailedAtOnce = 4;

export interface SettleLines {
  /** Resolves once it is settled, or can't be. */
  add(settlement: Settlement): Promise<void>;
}

interface InLine {
  settlement: Settlement;
  leave: () => void;
}

/**
 * Two lines. Deliveries that arrived are settled together, as many as came while the batch before was written. Those that
 * failed go one by one in a line of their own: each locks its recipient, and what arrived doesn't wait behind them.
 */
export function createSettleLines(settling: Settling & { logger: Logger }): SettleLines {
  const delivered: InLine[] = [];
  const failed: InLine[] = [];
  let writing = false;
  let failing = 0;

  const settled = async (batch: InLine[], settle: (settlements: Settlement[]) => Promise<void>): Promise<void> => {
    try {
      await settle(batch.map(({ settlement }) => settlement));
    } catch (error) {
      // It was sent and can't be settled: its log row stays `unknown`, and its lease brings it back.
      const message = "deliveries can't be settled; they will be sent again";
      settling.logger.warn({ err: error, deliveries: batch.length }, message);
    }
    for (const { leave } of batch) leave();
  };

  const writeDelivered = async (): Promise<void> => {
    writing = true;
    while (delivered.length > 0) {
      const batch = delivered.splice(0, mostSettledTogether);
      await settled(batch, (settlements) => settleDelivered(settling, settlements));
    }
    writing = false;
  };
  const writeFailed = async (): Promise<void> => {
    failing += 1;
    for (let next = failed.shift(); next !== undefined; next = failed.shift()) {
      const { settlement } = next;
      await settled([next], () => settleFailed(settling, settlement));
    }
    failing -= 1;
  };

  return {
    add: (settlement) =>
      new Promise((leave) => {
        const arrived = settlement.verdict.outcome === "delivered";
        (arrived ? delivered : failed).push({ settlement, leave });
        if (arrived && !writing) void writeDelivered();
        if (!arrived && failing < mostFailedAtOnce) void writeFailed();
      }),
  };
}
