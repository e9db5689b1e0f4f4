import { type AttemptDeps, attempt } from "./attempt.ts";
import { type ClaimDeps, claim, isProbe } from "./claim.ts";
import type { ClaimedDelivery } from "./claim-store.ts";
import type { DeliveryJob } from "./delivery-jobs.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import type { SettlementDeps } from "./settle.ts";
import { createSettlementQueue } from "./settlement-queue.ts";

export interface PipelineDeps extends ClaimDeps, AttemptDeps, SettlementDeps {
  metrics: DeliveryMetrics;
}

/** A job with a slot, which the pipeline releases. */
export interface StartedJob {
  job: DeliveryJob;
  releaseSlot: () => void;
}

/** Returns the function that takes started jobs through claim, attempt and settle. It never rejects. */
export function createPipeline(deps: PipelineDeps): (started: StartedJob[]) => Promise<void> {
  const settlements = createSettlementQueue(deps);

  async function attemptAndSettle(job: DeliveryJob, delivery: ClaimedDelivery): Promise<void> {
    const result = await attempt(deps, delivery);
    deps.metrics.recordAttempt(delivery, result, deps.clock());
    await settlements.add({ delivery, result, isProbe: isProbe(job), job });
  }

  return async (started) => {
    const jobs = started.map(({ job }) => job);
    const claimed = await claim(deps, jobs);
    for (const { job, releaseSlot } of started) {
      const delivery = claimed.get(job.id);
      if (delivery === undefined) releaseSlot();
      else void attemptAndSettle(job, delivery).finally(releaseSlot);
    }
  };
}
