import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import type { MissedEvent, SettledDelivery } from "../delivery/delivery.ts";
import { deleteOwnedJobs } from "../delivery/delivery-jobs.ts";
import { redeliver } from "../delivery/redeliver.ts";
import { replays } from "../queue/queues.ts";
import { scheduleStep } from "./replay-jobs.ts";
import {
  findFailures,
  findPastEvents,
  findReplay,
  isActive,
  lockEndpointForShare,
  lockReplay,
  type ReplayEndpoint,
  type ReplayRow,
  readLoad,
  updateReplay,
} from "./replay-store.ts";

export interface ReplayDeps {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
}

/** Replayed deliveries can be queued ahead of a new event, so only this many are ready to send at a time. */
export const maxReady = 50;
/** A failing delivery blocks its ordering key; the deliveries that wait behind it must not grow without limit. */
const maxDue = 1_000;
const stepIntervalMs = 1_000;
const heldRetryMs = 15_000;
/** Bounds a step over a range in which the endpoint selects few events. */
const maxEventsPerStep = 1_000;

interface Step {
  settled: SettledDelivery[];
  missed: MissedEvent[];
  cursor: { cursor_at?: Date; cursor_id?: string };
  isDone: boolean;
}

async function nextFailures(transaction: Transaction<DB>, replay: ReplayRow, limit: number): Promise<Step> {
  const settled = await findFailures(transaction, replay, limit);
  const last = settled.at(-1);
  const cursor = last === undefined ? {} : { cursor_at: last.created_at, cursor_id: last.id };
  return { settled, missed: [], cursor, isDone: settled.length < limit };
}

/** Takes sendable events up to the limit, and skips the others. */
async function nextEvents(
  transaction: Transaction<DB>,
  replay: ReplayRow,
  endpoint: ReplayEndpoint,
  limit: number,
): Promise<Step> {
  const events = await findPastEvents(transaction, replay, endpoint, maxEventsPerStep);
  const sendable = events.filter((each) => each.sendable).slice(0, limit);
  const isFull = sendable.length === limit;
  const last = isFull ? sendable.at(-1) : events.at(-1);
  return {
    settled: sendable.flatMap(({ delivery_id: id, subscription_id, occurred_at: created_at }) =>
      id === null ? [] : [{ id, subscription_id, created_at }],
    ),
    missed: sendable.filter(({ delivery_id }) => delivery_id === null),
    cursor: last === undefined ? {} : { cursor_at: last.occurred_at, cursor_id: last.event_id },
    isDone: !isFull && events.length < maxEventsPerStep,
  };
}

/**
 * Runs the next step of a replay in one transaction: queues some deliveries, advances the cursor, and replaces this step's job with
 * the next one. A worker that crashes has done all of it or nothing.
 */
export async function runReplayStep(
  { database, queue, clock }: ReplayDeps,
  job: { id: string; retryCount: number },
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const found = await findReplay(transaction, job.id);
    // Locked before the replay's row, in the same order as by starting and cancelling.
    const endpoint = found === undefined ? undefined : await lockEndpointForShare(transaction, found.recipient_id);
    const replay = await lockReplay(transaction, job.id);
    const owned = await deleteOwnedJobs(transaction, queue, replays, [job]);
    if (owned.size === 0 || replay?.status !== "running") return;
    const now = clock();
    const after = (milliseconds: number): Date => new Date(now.getTime() + milliseconds);
    if (endpoint === undefined || endpoint.deleted_at !== null) {
      await updateReplay(transaction, replay.id, { status: "cancelled", updated_at: now });
      return;
    }
    if (!(await isActive(transaction, replay.recipient_id))) {
      await scheduleStep(transaction, queue, replay.id, after(heldRetryMs));
      return;
    }
    const { ready, due } = await readLoad(transaction, replay.recipient_id, now, maxDue);
    const freeSlots = Math.min(maxReady - ready, maxDue - due);
    if (freeSlots <= 0) {
      await scheduleStep(transaction, queue, replay.id, after(stepIntervalMs));
      return;
    }
    const step = await (replay.kind === "failures"
      ? nextFailures(transaction, replay, freeSlots)
      : nextEvents(transaction, replay, endpoint, freeSlots));
    await redeliver(transaction, queue, replay.recipient_id, step);
    const sent = step.settled.length + step.missed.length;
    await updateReplay(transaction, replay.id, {
      ...step.cursor,
      done: replay.done + sent,
      ...(step.isDone ? { status: "done" } : {}),
      updated_at: now,
    });
    if (!step.isDone) await scheduleStep(transaction, queue, replay.id, after(sent === 0 ? 0 : stepIntervalMs));
  });
}

const maxJobsPerFetch = 20;

/** Runs one step of each replay that is due. A step that fails is retried after its lease expires and doesn't stop the others. */
export async function runDueReplays(deps: ReplayDeps): Promise<void> {
  const boss = deps.queue.boss();
  const jobs = await boss.fetch(replays, { batchSize: maxJobsPerFetch });
  const errors: unknown[] = [];
  for (const { id, retryCount } of jobs) {
    await runReplayStep(deps, { id, retryCount }).catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of ${jobs.length} replay steps failed`);
}
