import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely } from "kysely";
import type { DB } from "../../database-schema.ts";
import { replays } from "../../queue/queues.ts";
import { endJobs } from "../delivery/jobs.ts";
import { sendAgain } from "../delivery/send-again.ts";
import { planStep } from "./replay-jobs.ts";
import { findNext, findReplay, isActive, loadOf, lockReplay, shareEndpoint, updateReplay } from "./replay-store.ts";

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
    if (endpoint !== undefined && endpoint.deleted_at !== null) {
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
    const next = await findNext(transaction, replay, room);
    await sendAgain(transaction, queue, replay.recipient_id, next);
    const last = next.at(-1);
    const isOver = next.length < room;
    await updateReplay(transaction, replay.id, {
      ...(last === undefined ? {} : { cursor_at: last.created_at, cursor_id: last.id }),
      done: replay.done + next.length,
      ...(isOver ? { status: "done" } : {}),
      updated_at: now,
    });
    if (!isOver) await planStep(transaction, queue, replay.id, after(betweenSteps));
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
