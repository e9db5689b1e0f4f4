import type { SuspendedSubscriptions } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely, Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { Author } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { replaceStep } from "./suspension-jobs.ts";
import { findCurrent, insertSuspension, lockCurrent, updateSuspension } from "./suspension-store.ts";

/** The command that the job carries out. The caller's transaction has locked the app's listing. */
export interface SuspensionCommand {
  appId: string;
  by: Author;
  at: Date;
}

const actorOf = ({ caller, requestId }: Author) => ({
  actor_issuer: caller.issuer,
  actor_subject: caller.subject,
  request_id: requestId,
});

const fromTheStart = { cursor_at: null, cursor_id: null };

/**
 * Starts to pause the app's active subscriptions. While the last suspension still resumes some, it turns round: it keeps those that are
 * still paused, and pauses the others again.
 */
export async function startSuspension(
  transaction: Transaction<DB>,
  queue: Queue,
  { appId, by, at, reason }: SuspensionCommand & { reason: string },
): Promise<void> {
  const current = await lockCurrent(transaction, appId);
  const started = { reason, started_at: at, ...actorOf(by), updated_at: at };
  const id = current?.id ?? uuid();
  if (current === undefined) {
    await insertSuspension(transaction, { id, app_id: appId, ...started });
  } else {
    const counters = { found: 0, paused: 0, resumed: 0, counted_at: null, is_last_pass: false };
    await updateSuspension(transaction, id, { state: "pausing", ...started, ...counters, ...fromTheStart });
  }
  await replaceStep(transaction, queue, id);
}

/** Stops pausing after the current batch, and starts to resume what the suspension has paused. */
export async function endSuspension(
  transaction: Transaction<DB>,
  queue: Queue,
  { appId, by, at }: SuspensionCommand,
): Promise<void> {
  const current = await lockCurrent(transaction, appId);
  if (current === undefined || current.state === "resuming") return;
  await updateSuspension(transaction, current.id, {
    state: "resuming",
    ...actorOf(by),
    ...fromTheStart,
    updated_at: at,
  });
  await replaceStep(transaction, queue, current.id);
}

/** Whether a suspension pauses the app's subscriptions or has done so. The caller's transaction has locked the app's listing. */
export async function isPausing(transaction: Transaction<DB>, appId: string): Promise<boolean> {
  const current = await findCurrent(transaction, appId);
  return current?.state === "pausing" || current?.state === "paused";
}

export interface SuspensionProgress {
  since: Date;
  reason: string;
  subscriptions: SuspendedSubscriptions;
}

/** The progress of the app's suspension that pauses subscriptions, until it has resumed them. */
export async function findProgress(database: Kysely<DB>, appId: string): Promise<SuspensionProgress | undefined> {
  const current = await findCurrent(database, appId);
  if (current === undefined || current.state === "ended") return undefined;
  const { state, found, paused, resumed } = current;
  return {
    since: current.started_at,
    reason: current.reason,
    subscriptions: { state, found, paused, resumed },
  };
}
