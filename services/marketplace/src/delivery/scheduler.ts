import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { leaseSeconds } from "../queue/queues.ts";
import { type DeliveryJob, type FetchedAttempt, isNew, recipientOf } from "./delivery-jobs.ts";
import type { Pipeline, StartedJob } from "./pipeline.ts";
import { createSlots } from "./slots.ts";

export interface SchedulerDeps {
  logger: Logger;
  maxInFlight: number;
  maxPerRecipient: number;
  pipeline: Pipeline;
  /** Returns jobs to the queue, if they are still as they were fetched. */
  release: (jobs: FetchedAttempt[]) => Promise<void>;
}

/** A fetch takes the largest of these for which slots are free. The limit is part of its text, and each text is prepared by itself. */
const fetchLimits = [100, 50, 20, 10, 5, 2, 1];
/** Wake-ups within this time share a fetch: under load, a fetch and its commit serve several deliveries. */
const fetchIntervalMs = 20;
const retryFetchMs = 500;
/** A fetched job that waits longer than this for a slot is dropped here; it is fetched again after its lease expires. */
const maxSlotWaitMs = (leaseSeconds * 1_000) / 6;
/**
 * Lost jobs are released once a second, for longer than a statement may run: PostgreSQL may go on with one whose connection was lost, and
 * commit a fetch only then.
 */
const releaseForMs = 12_000;
const releaseEveryMs = 1_000;
/** A quarter of a recipient's slots is reserved for new events, so redeliveries and replays can't delay them. */
const shareReservedForNew = 0.25;

interface FetchedJob {
  job: DeliveryJob;
  fetchedAt: number;
}

export interface Scheduler {
  /** Fetches the jobs that are due. */
  wake(): void;
  /** Releases jobs that this worker may have fetched, but doesn't process: they are fetched again. */
  recover(lost: FetchedAttempt[]): void;
  /** Stops fetching; resolves when all requests in flight are settled. */
  stop(): Promise<void>;
}

/** Fetches jobs as slots become free, new events first, and passes them on. */
export function startScheduler(deps: SchedulerDeps): Scheduler {
  const { logger, maxInFlight, maxPerRecipient, pipeline } = deps;
  let pending: FetchedJob[] = [];
  const lost = new Map<string, { job: FetchedAttempt; until: number }>();
  const stopping = new AbortController();
  let fetching: Promise<void> | undefined;
  let fetchRequested = false;
  let nextReleaseAt = 0;
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
        fetchRequested = true;
        nextFetchAt = performance.now() + retryFetchMs;
      }
    }
  };

  const fetchDue = async (): Promise<void> => {
    await releaseLost();
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

  const addLost = (jobs: FetchedAttempt[]): void => {
    const until = performance.now() + releaseForMs;
    for (const job of jobs) lost.set(job.id, { job, until });
  };
  const releaseLost = async (): Promise<void> => {
    const now = performance.now();
    if (lost.size === 0 || now < nextReleaseAt) return;
    nextReleaseAt = now + releaseEveryMs;
    await deps.release([...lost.values()].map(({ job }) => job));
    for (const [id, { until }] of lost) if (until < now) lost.delete(id);
  };

  const findLimit = (): number | undefined =>
    stopping.signal.aborted ? undefined : fetchLimits.find((limit) => limit <= slots.free());

  const fetchBatch = async (limit: number): Promise<number> => {
    // Recipients whose pending jobs are all redeliveries stay in the fetch: new events may be queued behind those.
    const waitingRecipients = pending.filter(({ job }) => isNew(job)).map(({ job }) => recipientOf(job));
    const ignoredRecipients = [...new Set([...slots.fullRecipients(), ...waitingRecipients])];
    let fetched: DeliveryJob[] = [];
    let waitingJobs: FetchedJob[] = [];
    const start = (jobs: DeliveryJob[]): StartedJob[] => {
      const { started, waiting } = startJobs(jobs.map((job) => ({ job, fetchedAt: Date.now() })));
      fetched = jobs;
      waitingJobs = waiting;
      return started;
    };
    try {
      await pipeline.fetch({ limit, ignoredRecipients }, start);
    } catch (error) {
      // The transaction may have been committed all the same.
      addLost(fetched);
      throw error;
    }
    pending.push(...waitingJobs);
    return fetched.length;
  };

  /** Starts the jobs whose recipient has a free slot, new events first; the others wait, without a request and without an attempt row. */
  const startJobs = (jobs: FetchedJob[]): { started: StartedJob[]; waiting: FetchedJob[] } => {
    const started: StartedJob[] = [];
    const waiting: FetchedJob[] = [];
    for (const fetched of [...jobs.filter(({ job }) => isNew(job)), ...jobs.filter(({ job }) => !isNew(job))]) {
      const { job, fetchedAt } = fetched;
      const recipient = recipientOf(job);
      if (Date.now() - fetchedAt > maxSlotWaitMs) continue;
      if (slots.free() <= 0 || slots.isFull(recipient, isNew(job) ? 0 : reservedSlots)) waiting.push(fetched);
      else started.push({ job, slot: slots.take(recipient) });
    }
    return { started, waiting };
  };

  return {
    wake,
    recover(jobs) {
      addLost(jobs);
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
