import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";
import { replays } from "../../queue/queues.ts";
import type { MissedEvent, SettledDelivery } from "../delivery/delivery-store.ts";
import { endJobs } from "../delivery/jobs.ts";
import { sendAgain } from "../delivery/send-again.ts";
import { planStep } from "./replay-jobs.ts";
import {
  type Audience,
  findFailures,
  findPastEvents,
  findReplay,
  isActive,
  loadOf,
  lockReplay,
  type ReplayRow,
  shareEndpoint,
  updateReplay,
} from "./replay-store.ts";

export interface Replaying {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
}

/** What a replay lets go may be ahead of a new event: so many wait for a free request to the recipient, and no more. */
export const mostReady = 50;
/** A lane whose first one fails keeps the others waiting, and must not let them pile up without end. */
const mostDue = 1_000;
const betweenSteps = 1_000;
const whileHeld = 15_000;
/** Bounds a step over a range in which the endpoint selects few events. */
const maxEventsPerStep = 1_000;

interface Step {
  settled: SettledDelivery[];
  missed: MissedEvent[];
  cursor: { cursor_at?: Date; cursor_id?: string };
  isOver: boolean;
}

async function nextFailures(transaction: Transaction<DB>, replay: ReplayRow, room: number): Promise<Step> {
  const settled = await findFailures(transaction, replay, room);
  const last = settled.at(-1);
  const cursor = last === undefined ? {} : { cursor_at: last.created_at, cursor_id: last.id };
  return { settled, missed: [], cursor, isOver: settled.length < room };
}

/** Takes as many sendable events as there is room for, and skips the others. */
async function nextEvents(
  transaction: Transaction<DB>,
  replay: ReplayRow,
  endpoint: Audience,
  room: number,
): Promise<Step> {
  const events = await findPastEvents(transaction, replay, endpoint, maxEventsPerStep);
  const sendable = events.filter((each) => each.sendable).slice(0, room);
  const isFull = sendable.length === room;
  const last = isFull ? sendable.at(-1) : events.at(-1);
  return {
    settled: sendable.flatMap(({ delivery_id: id, subscription_id, occurred_at: created_at }) =>
      id === null ? [] : [{ id, subscription_id, created_at }],
    ),
    missed: sendable.filter(({ delivery_id }) => delivery_id === null),
    cursor: last === undefined ? {} : { cursor_at: last.occurred_at, cursor_id: last.event_id },
    isOver: !isFull && events.length < maxEventsPerStep,
  };
}

/**
 * The next step of a replay, in one transaction: some more go out again, the cursor is moved behind them, and the job of this
 * step is replaced by that of the next. A worker that dies at any line has done all of it or nothing.
 */
export async function runReplayStep(
  { database, queue, clock }: Replaying,
  job: { id: string; retryCount: number },
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const found = await findReplay(transaction, job.id);
    // Before the replay's own row, as whoever starts and cancels one does.
    const endpoint = found === undefined ? undefined : await shareEndpoint(transaction, found.recipient_id);
    const replay = await lockReplay(transaction, job.id);
    const ours = await endJobs(transaction, queue, replays, [job]);
    if (ours.size === 0 || replay?.status !== "running") return;
    const now = clock();
    const after = (milliseconds: number): Date => new Date(now.getTime() + milliseconds);
    if (endpoint === undefined || endpoint.deleted_at !== null) {
      await updateReplay(transaction, replay.id, { status: "cancelled", updated_at: now });
      return;
    }
    if (!(await isActive(transaction, replay.recipient_id))) {
      await planStep(transaction, queue, replay.id, after(whileHeld));
      return;
    }
    const { ready, due } = await loadOf(transaction, replay.recipient_id, now, mostDue);
    const room = Math.min(mostReady - ready, mostDue - due);
    if (room <= 0) {
      await planStep(transaction, queue, replay.id, after(betweenSteps));
      return;
    }
    const step = await (replay.kind === "failures"
      ? nextFailures(transaction, replay, room)
      : nextEvents(transaction, replay, endpoint, room));
    await sendAgain(transaction, queue, replay.recipient_id, step);
    const sent = step.settled.length + step.missed.length;
    await updateReplay(transaction, replay.id, {
      ...step.cursor,
      done: replay.done + sent,
      ...(step.isOver ? { status: "done" } : {}),
      updated_at: now,
    });
    if (!step.isOver) await planStep(transaction, queue, replay.id, after(sent === 0 ? 0 : betweenSteps));
  });
}

const mostAtOnce = 20;

/** A step of each replay whose turn it is. One that can't be taken is left to its lease, and keeps no other from its own. */
export async function runDueReplays(replaying: Replaying): Promise<void> {
  const boss = replaying.queue.boss();
  const jobs = await boss.fetch(replays, { batchSize: mostAtOnce });
  const problems: unknown[] = [];
  for (const { id, retryCount } of jobs) {
    await runReplayStep(replaying, { id, retryCount }).catch((error: unknown) => problems.push(error));
  }
  if (problems.length > 0)
    throw new AggregateError(problems, `${problems.length} of ${jobs.length} replays can't go on`);
}
