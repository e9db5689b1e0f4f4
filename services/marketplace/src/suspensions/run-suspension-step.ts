import { setTimeout as delay } from "node:timers/promises";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { deleteOwnedJobs } from "../delivery/delivery-jobs.ts";
import { markCrowdedEndpoints } from "../delivery/sweep.ts";
import { suspensions } from "../queue/queues.ts";
import {
  type BatchResult,
  countToPause,
  pauseNext,
  resumeNext,
  type SuspensionBatch,
} from "../subscriptions/suspend-subscriptions.ts";
import { scheduleStep } from "./suspension-jobs.ts";
import {
  findWithoutJob,
  hasTransactionOlderThan,
  lockSuspension,
  type SuspensionRow,
  updateSuspension,
} from "./suspension-store.ts";

export interface SuspensionDeps {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  logger: Logger;
  /** How long the last pass waits for transactions, if not as long as `lastPassDelay` says. */
  lastPassMaxMs?: number;
}

export const batchSize = 50;
/**
 * A request that was in progress when the app was suspended may create or resume a subscription after it. The last pass starts once no
 * transaction is in progress that is older than the first step: at the earliest after a time that is longer than requests usually take,
 * because the transactions of other roles can't be seen, and at the latest after `maxMs`, because one may never end.
 */
const lastPassDelay = { minMs: 15_000, maxMs: 300_000, retryMs: 1_000 };

const batchOf = (row: SuspensionRow, now: Date): SuspensionBatch => ({
  suspensionId: row.id,
  appId: row.app_id,
  by: { caller: { issuer: row.actor_issuer, subject: row.actor_subject }, requestId: row.request_id },
  after:
    row.cursor_at === null || row.cursor_id === null ? undefined : { created_at: row.cursor_at, id: row.cursor_id },
  limit: batchSize,
  now,
});

const cursorOf = ({ cursor }: BatchResult) => ({
  cursor_at: cursor?.created_at ?? null,
  cursor_id: cursor?.id ?? null,
});

/** What a step leaves: columns of the suspension, and when the next one starts; without `next` it was the last one. */
interface Step {
  changes: Omit<Parameters<typeof updateSuspension>[2], "updated_at">;
  next?: { startAfter?: Date };
}

async function countFirst(transaction: Transaction<DB>, row: SuspensionRow, now: Date): Promise<SuspensionRow> {
  if (row.counted_at !== null) return row;
  const { active, paused } = await countToPause(transaction, { appId: row.app_id, suspensionId: row.id });
  return { ...row, found: active + paused, paused, counted_at: now };
}

type StepDeps = Pick<SuspensionDeps, "queue" | "logger" | "lastPassMaxMs">;

async function runPauseStep(
  transaction: Transaction<DB>,
  { queue, logger, lastPassMaxMs = lastPassDelay.maxMs }: StepDeps,
  given: SuspensionRow,
  now: Date,
): Promise<Step> {
  const row = await countFirst(transaction, given, now);
  const ageMs = now.getTime() - (row.counted_at ?? now).getTime();
  const startsLastPass = row.is_last_pass && row.cursor_id === null;
  const isTooEarly = startsLastPass && (await hasTransactionOlderThan(transaction, ageMs));
  if (isTooEarly && ageMs < lastPassMaxMs) {
    return { changes: {}, next: { startAfter: new Date(now.getTime() + lastPassDelay.retryMs) } };
  }
  if (isTooEarly) {
    const facts = { suspension: row.id, ageMs };
    logger.warn(facts, "an older transaction is in progress; it may leave subscriptions active");
  }
  const batch = await pauseNext(transaction, queue, batchOf(row, now));
  const paused = row.paused + batch.changed;
  const counters = { counted_at: row.counted_at, found: Math.max(row.found, paused), paused };
  if (!batch.isDone) return { changes: { ...counters, ...cursorOf(batch) }, next: {} };
  const restarted = { ...counters, cursor_at: null, cursor_id: null };
  if (row.is_last_pass) return { changes: { ...restarted, state: "paused" } };
  const startAfter = new Date((row.counted_at ?? now).getTime() + lastPassDelay.minMs);
  return { changes: { ...restarted, is_last_pass: true }, next: { startAfter } };
}

async function runResumeStep(
  transaction: Transaction<DB>,
  { queue }: StepDeps,
  row: SuspensionRow,
  now: Date,
): Promise<Step> {
  const batch = await resumeNext(transaction, queue, batchOf(row, now));
  const changes = { resumed: row.resumed + batch.changed, ...cursorOf(batch) };
  return batch.isDone ? { changes: { ...changes, state: "ended" } } : { changes, next: {} };
}

/**
 * Runs the next step of a suspension in one transaction: pauses or resumes a batch with its events and audit entries, counts it, advances
 * the cursor, and replaces this step's job with the next one. A worker that crashes has done all of it or nothing.
 */
export async function runSuspensionStep(deps: SuspensionDeps, job: { id: string; retryCount: number }): Promise<void> {
  const { database, queue, clock, logger } = deps;
  const done = await database.transaction().execute(async (transaction) => {
    const row = await lockSuspension(transaction, job.id);
    const owned = await deleteOwnedJobs(transaction, queue, suspensions, [job]);
    if (owned.size === 0 || (row?.state !== "pausing" && row?.state !== "resuming")) return undefined;
    const now = clock();
    const runStep = row.state === "pausing" ? runPauseStep : runResumeStep;
    const { changes, next } = await runStep(transaction, deps, row, now);
    await updateSuspension(transaction, row.id, { ...changes, updated_at: now });
    if (next !== undefined) await scheduleStep(transaction, queue, row.id, next.startAfter);
    return { before: row, after: { ...row, ...changes }, now };
  });
  if (done === undefined) return;
  const { before, after, now } = done;
  await markCrowdedEndpoints({ database, queue }, before.vendor_id, now);
  const { state, found, paused, resumed } = after;
  const facts = { suspension: before.id, app: before.slug, found, paused, resumed };
  if (before.counted_at === null && state === "pausing")
    logger.info(facts, "pausing the subscriptions of a suspended app");
  if (state === "paused") logger.info(facts, "paused the subscriptions of a suspended app");
  if (state === "ended") logger.info(facts, "resumed the subscriptions of a reinstated app");
}

/** Each subscription has deliveries, which take more of the machine than its pause: about 4 ms of CPU each on two shared cores. */
const maxPerSecond = 200;

/** The pause after a step: it has at most a third of a connection's time, and a slow database slows it down. */
const pauseAfter = (stepMs: number): number => Math.max(2 * stepMs, (batchSize / maxPerSecond) * 1_000 - stepMs);

/**
 * Runs the steps of suspensions that are due, until none is, with pauses so that requests are not delayed. A step that fails is
 * retried after its lease expires.
 */
export async function runDueSuspensions(
  deps: SuspensionDeps,
  { stopped, onStep }: { stopped: AbortSignal; onStep?: () => void },
): Promise<void> {
  const errors: unknown[] = [];
  while (!stopped.aborted) {
    const [job] = await deps.queue.boss().fetch(suspensions);
    if (job === undefined) break;
    const startedAt = performance.now();
    await runSuspensionStep(deps, { id: job.id, retryCount: job.retryCount }).catch((error: unknown) =>
      errors.push(error),
    );
    onStep?.();
    await delay(pauseAfter(performance.now() - startedAt), undefined, { signal: stopped }).catch(() => undefined);
  }
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} steps of suspensions failed`);
}

const maxSwept = 1_000;

/** Gives suspensions that have work to do, and no job, a new one. Transactions prevent this state; the sweep covers unknown bugs. */
export async function sweepSuspensions({
  database,
  queue,
}: Pick<SuspensionDeps, "database" | "queue">): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    const ids = await findWithoutJob(transaction, maxSwept);
    for (const id of ids) await scheduleStep(transaction, queue, id);
    return ids.length;
  });
}
