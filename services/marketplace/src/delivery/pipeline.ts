import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { type AttemptDeps, attempt } from "./attempt.ts";
import { createResponseTracker } from "./attempt-result.ts";
import {
  type ClaimDeps,
  type Claimed,
  claim,
  type FetchRequest,
  fetchAndClaim,
  isProbe,
  returnUnclaimedJobs,
} from "./claim.ts";
import type { ClaimedDelivery } from "./claim-store.ts";
import type { DeliveryJob } from "./delivery-jobs.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import { createSettlementQueue, type SettlementQueueDeps } from "./settlement-queue.ts";
import type { Slot } from "./slots.ts";

export interface PipelineDeps extends ClaimDeps, AttemptDeps, SettlementQueueDeps {
  logger: Logger;
  metrics: DeliveryMetrics;
  /** The worker's id; undefined while it must neither fetch nor send. */
  workerId: () => number | undefined;
}

/** A job with a slot, which the pipeline releases. */
export interface StartedJob {
  job: DeliveryJob;
  slot: Slot;
}

export interface Pipeline {
  /** Fetches jobs, and processes those that `start` gives a slot. Resolves once they are claimed. */
  fetch(request: FetchRequest, start: (jobs: DeliveryJob[]) => StartedJob[]): Promise<void>;
  /** Takes fetched jobs through claim, attempt and settle. It never rejects. */
  process(started: StartedJob[]): Promise<void>;
}

function releaseAll(started: StartedJob[]): void {
  for (const { slot } of started) slot.release();
}

export function createPipeline(deps: PipelineDeps): Pipeline {
  const settlements = createSettlementQueue(deps);
  const responses = createResponseTracker();

  async function attemptAndSettle(
    { job, slot }: StartedJob,
    delivery: ClaimedDelivery,
    isOwner: () => boolean,
  ): Promise<void> {
    const startedAt = performance.now();
    const attempted = await attempt(deps, delivery, isOwner);
    if (attempted === undefined) {
      deps.onLost([job]);
      return;
    }
    const result = responses.classify(delivery.origin, startedAt, attempted);
    // Failures are settled one by one, so a recipient that fails gets no further requests until then.
    if (result.outcome === "delivered") slot.endRequest();
    deps.metrics.recordAttempt(delivery, result, deps.clock());
    await settlements.add({ delivery, result, isProbe: isProbe(job), job });
  }

  async function returnUnclaimed(unclaimed: StartedJob[]): Promise<void> {
    try {
      await returnUnclaimedJobs(
        deps,
        unclaimed.map(({ job }) => job),
      );
    } catch (error) {
      deps.logger.warn({ err: error }, "failed to return deliveries to the queue; retrying them");
      deps.onLost(unclaimed.map(({ job }) => job));
    } finally {
      releaseAll(unclaimed);
    }
  }

  function send(started: StartedJob[], claimed: Claimed, workerId: number): void {
    const unclaimed = started.filter(({ job }) => !claimed.has(job.id));
    if (unclaimed.length > 0) void returnUnclaimed(unclaimed);
    const isOwner = (): boolean => deps.workerId() === workerId;
    for (const each of started) {
      const delivery = claimed.get(each.job.id);
      if (delivery !== undefined) void attemptAndSettle(each, delivery, isOwner).finally(() => each.slot.release());
    }
  }

  return {
    async fetch(request, start) {
      const workerId = deps.workerId();
      if (workerId === undefined) return;
      let started: StartedJob[] = [];
      const choose = (jobs: DeliveryJob[]): DeliveryJob[] => {
        started = start(jobs);
        return started.map(({ job }) => job);
      };
      try {
        const claimed = await fetchAndClaim(deps, request, choose, workerId);
        send(started, claimed, workerId);
      } catch (error) {
        releaseAll(started);
        throw error;
      }
    },
    async process(started) {
      const workerId = deps.workerId();
      try {
        if (workerId === undefined) throw new Error("the worker isn't registered");
        const jobs = started.map(({ job }) => job);
        send(started, await claim(deps, jobs, workerId), workerId);
      } catch (error) {
        deps.logger.warn({ err: error }, "failed to claim deliveries; retrying them");
        releaseAll(started);
        deps.onLost(started.map(({ job }) => job));
      }
    },
  };
}
