import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { leaseSeconds } from "../queue/queues.ts";
import { type DeliveryJob, isNew, recipientOf } from "./delivery-jobs.ts";
import type { Pipeline, StartedJob } from "./pipeline.ts";
import { createSlots, type Slot } from "./slots.ts";

export interface SchedulerDeps {
  logger: Logger;
  maxInFlight: number;
  maxPerRecipient: number;
  pipeline: Pipeline;
  /** Releases jobs that this worker has fetched, except the given ones. */
  releaseUnknown: (known: string[]) => Promise<void>;
}

/** A fetch takes the largest of these for which slots are free. The limit is part of its text, and each text is prepared by itself. */
const fetchLimits = [100, 50, 20, 10, 5, 2, 1];
/** Wake-ups within this time share a fetch: under load, a fetch and its commit serve several deliveries. */
const fetchIntervalMs = 20;
const retryFetchMs = 500;
/** A fetched job that waits longer than this for a slot is dropped here; it is fetched again after its lease expires. */
const maxSlotWaitMs = (leaseSeconds * 1_000) / 3;
/** A quarter of a recipient's slots is reserved for new events, so redeliveries and replays can't delay them. */
const shareReservedForNew = 0.25;

interface FetchedJob {
  job: DeliveryJob;
  fetchedAt: number;
}

export interface Scheduler {
  /** Fetches the jobs that are due. */
  wake(): void;
  /** Call it when a job may have been fetched, or not settled, without this worker knowing: it is fetched again. */
  recover(): void;
  /** Stops fetching; resolves when all requests in flight are settled. */
  stop(): Promise<void>;
}

/** Fetches jobs as slots become free, new events first, and passes them on. */
export function startScheduler(deps: SchedulerDeps): Scheduler {
  const { logger, maxInFlight, maxPerRecipient, pipeline } = deps;
  let pending: FetchedJob[] = [];
  /** The ids of jobs that are pending or in the pipeline. */
  const known = new Set<string>();
  const stopping = new AbortController();
  let fetching: Promise<void> | undefined;
  let fetchRequested = false;
  let mayHaveUnknown = false;
  let nextFetchAt = 0;

  const wake = (): void => {
    if (stopping.signal.aborted) return;
    fetchRequested = true;
    fetching ??= fetchWhileRequested().finally(() => {
      fetching = undefined;
    });
  };
  const slots = createSlots({ maxInFlight, maxPerRecipient, onFree: wake });
  const reservedSlots = Math.floor(maxPerRecipient * shareReservedForNew);

  const fetchWhileRequested = async (): Promise<void> => {
    while (fetchRequested && !stopping.signal.aborted) {
      const wait = nextFetchAt - performance.now();
      if (wait > 0) await delay(wait, undefined, { signal: stopping.signal }).catch(() => undefined);
      fetchRequested = false;
      nextFetchAt = performance.now() + fetchIntervalMs;
      try {
        await fetchDue();
      } catch (error) {
        logger.warn({ err: error }, "failed to fetch deliveries; retrying");
        // The transaction may have been committed all the same.
        mayHaveUnknown = true;
        fetchRequested = true;
        nextFetchAt = performance.now() + retryFetchMs;
      }
    }
  };

  const fetchDue = async (): Promise<void> => {
    if (mayHaveUnknown) await deps.releaseUnknown([...known]);
    mayHaveUnknown = false;
    const { started, waiting } = startJobs(pending);
    pending = waiting;
    if (started.length > 0) void pipeline.process(started);
    let limit = findLimit();
    while (limit !== undefined && (await fetchBatch(limit)) === limit) {
      // So few slots are left that it is cheaper to wait for more.
      if (slots.free() < limit) {
        fetchRequested = true;
        return;
      }
      limit = findLimit();
    }
  };

  const findLimit = (): number | undefined =>
    stopping.signal.aborted ? undefined : fetchLimits.find((limit) => limit <= slots.free());

  const fetchBatch = async (limit: number): Promise<number> => {
    // Recipients whose pending jobs are all redeliveries stay in the fetch: new events may be queued behind those.
    const waitingRecipients = pending.filter(({ job }) => isNew(job)).map(({ job }) => recipientOf(job));
    const ignoredRecipients = [...new Set([...slots.fullRecipients(), ...waitingRecipients])];
    let waitingJobs: FetchedJob[] = [];
    const fetched = await pipeline.fetch({ limit, ignoredRecipients }, (jobs) => {
      const { started, waiting } = startJobs(jobs.map((job) => ({ job, fetchedAt: Date.now() })));
      waitingJobs = waiting;
      return started;
    });
    for (const { job } of waitingJobs) known.add(job.id);
    pending.push(...waitingJobs);
    return fetched;
  };

  /** Starts the jobs whose recipient has a free slot, new events first; the others wait, without a request and without an attempt row. */
  const startJobs = (jobs: FetchedJob[]): { started: StartedJob[]; waiting: FetchedJob[] } => {
    const started: StartedJob[] = [];
    const waiting: FetchedJob[] = [];
    for (const fetched of [...jobs.filter(({ job }) => isNew(job)), ...jobs.filter(({ job }) => !isNew(job))]) {
      const { job, fetchedAt } = fetched;
      const recipient = recipientOf(job);
      if (Date.now() - fetchedAt > maxSlotWaitMs) known.delete(job.id);
      else if (slots.free() <= 0 || slots.isFull(recipient, isNew(job) ? 0 : reservedSlots)) waiting.push(fetched);
      else started.push({ job, slot: takeSlot(job.id, recipient) });
    }
    return { started, waiting };
  };

  const takeSlot = (id: string, recipient: string): Slot => {
    const slot = slots.take(recipient);
    known.add(id);
    return {
      endRequest: () => slot.endRequest(),
      release() {
        known.delete(id);
        slot.release();
      },
    };
  };

  return {
    wake,
    recover() {
      mayHaveUnknown = true;
      wake();
    },
    async stop() {
      stopping.abort();
      pending = [];
      await fetching;
      await slots.whenIdle();
    },
  };
}
