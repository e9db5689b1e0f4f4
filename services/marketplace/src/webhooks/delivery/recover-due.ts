import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Job } from "pg-boss";
import { recoveries } from "../../queue/queues.ts";
import { type Recovering, recoverRecipient } from "./recover.ts";

export interface RecoveringDue extends Recovering {
  logger: Logger;
  stopped: AbortSignal;
}

const mostFetched = 50;
/** Each has a connection while it runs, and deliveries need some too. */
const mostAtOnce = 8;

/** A step of each recovery whose time has come. One that can't be taken is left to its lease, and keeps no other from its own. */
export async function recoverDue(recovering: RecoveringDue): Promise<void> {
  const { queue, logger, stopped } = recovering;
  const boss = queue.boss();
  const jobs: Job<{ pace?: number }>[] = [];
  let mayBeMore = true;
  const fetchMore = async (): Promise<void> => {
    const fetched = await boss.fetch<{ pace?: number }>(recoveries, { batchSize: mostFetched });
    mayBeMore = fetched.length === mostFetched;
    jobs.push(...fetched);
  };
  const recoverAll = async (): Promise<void> => {
    for (;;) {
      if (jobs.length === 0 && mayBeMore && !stopped.aborted) await fetchMore();
      const job = jobs.shift();
      if (job === undefined) return;
      const { id, retryCount, data } = job;
      await recoverRecipient(recovering, { id, retryCount }, data?.pace).catch((error: unknown) =>
        logger.warn({ err: error, recipientId: id }, "a recipient can't be looked after; trying again"),
      );
    }
  };
  await fetchMore();
  const hands = await Promise.allSettled(Array.from({ length: mostAtOnce }, recoverAll));
  const failed = hands.find((hand) => hand.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}
