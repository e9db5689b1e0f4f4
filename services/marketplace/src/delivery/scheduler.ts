import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { deliveries, leaseSeconds } from "../queue/queues.ts";
import { type DeliveryJob, isNew, recipientOf } from "./delivery-jobs.ts";
import type { StartedJob } from "./pipeline.ts";
import { createSlots } from "./slots.ts";

export interface SchedulerDeps {
  queue: Queue;
  logger: Logger;
  maxInFlight: number;
  maxPerRecipient: number;
  /** Delivers the jobs and releases their slots. */
  process: (started: StartedJob[]) => Promise<void>;
}

const maxJobsPerFetch = 100;
/** A fetched job that waits longer than this for a slot is dropped here; it is fetched again after its lease expires. */
const maxSlotWaitMs = (leaseSeconds * 1_000) / 3;
/** A quarter of a recipient's slots is reserved for new events, so redeliveries and replays can't delay them. */
const shareReservedForNew = 0.25;

export interface Scheduler {
  /** Fetches the jobs that are due. */
  wake(): void;
  /** Stops fetching; resolves when all requests in flight are settled. */
  stop(): Promise<void>;
}

/** Fetches jobs as slots become free, new events first, and passes them on. */
export function startScheduler(deps: SchedulerDeps): Scheduler {
  const { queue, logger, maxInFlight, maxPerRecipient } = deps;
  const pending: { job: DeliveryJob; fetchedAt: number }[] = [];
  let stopping = false;
  let fetching: Promise<void> | undefined;
  let fetchRequested = false;

  const wake = (): void => {
    if (stopping) return;
    fetchRequested = true;
    fetching ??= fetchJobs()
      .catch((error: unknown) => logger.warn({ err: error }, "failed to fetch deliveries; retrying"))
      .finally(() => {
        fetching = undefined;
      });
  };
  const slots = createSlots({ maxInFlight, maxPerRecipient, onFree: wake });

  const hasFreeSlot = (): boolean => !stopping && slots.free() > 0;
  const shouldRefetch = (): boolean => fetchRequested && !stopping;
  const reservedSlots = Math.floor(maxPerRecipient * shareReservedForNew);

  const fetchJobs = async (): Promise<void> => {
    const boss = queue.boss();
    do {
      fetchRequested = false;
      startPending();
      while (hasFreeSlot()) {
        // Recipients whose pending jobs are all redeliveries stay in the fetch: new events may be queued behind those.
        const waiting = pending.filter(({ job }) => isNew(job)).map(({ job }) => recipientOf(job));
        const ignoreGroups = [...new Set([...slots.fullRecipients(), ...waiting])];
        const batchSize = Math.min(maxJobsPerFetch, slots.free());
        const jobs: DeliveryJob[] = await boss.fetch(deliveries, {
          batchSize,
          ignoreGroups,
          includeMetadata: true,
        });
        if (jobs.length === 0) break;
        pending.push(...jobs.map((job) => ({ job, fetchedAt: Date.now() })));
        startPending();
        if (jobs.length < batchSize) break;
      }
    } while (shouldRefetch());
  };

  /** Starts the jobs whose recipient has a free slot; the others stay pending, without a request and without an attempt row. */
  const startPending = (): void => {
    const starting: StartedJob[] = [];
    const waiting: typeof pending = [];
    const all = pending.splice(0);
    for (const entry of [...all.filter((each) => isNew(each.job)), ...all.filter((each) => !isNew(each.job))]) {
      const { job } = entry;
      const recipient = recipientOf(job);
      if (Date.now() - entry.fetchedAt > maxSlotWaitMs) continue;
      if (slots.free() <= 0 || slots.isFull(recipient, isNew(job) ? 0 : reservedSlots)) {
        waiting.push(entry);
        continue;
      }
      starting.push({ job, releaseSlot: slots.take(recipient) });
    }
    pending.push(...waiting);
    if (starting.length > 0) void deps.process(starting);
  };

  return {
    wake,
    async stop() {
      stopping = true;
      pending.length = 0;
      await fetching;
      await slots.whenIdle();
    },
  };
}
