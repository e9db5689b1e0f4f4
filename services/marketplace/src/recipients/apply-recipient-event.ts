import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { notifyVendor } from "./notify-vendor.ts";
import { decide, type RecipientDecision, type RecipientEvent } from "./recipient.ts";
import {
  lockHeldWithoutProbe,
  lockRecipient,
  lockRecipients,
  type Recipient,
  takeRecoveryLock,
  updateCrowded,
  updateState,
  updateStates,
} from "./recipient-store.ts";
import { scheduleRecoveries, scheduleRecovery } from "./recovery-jobs.ts";
import { firstPace } from "./recovery-schedule.ts";

/** Applies an event to a recipient whose row the caller has locked: stores its next state and schedules its recovery. */
export async function applyToLocked(
  transaction: Transaction<DB>,
  queue: Queue,
  { id, kind, state: before }: Recipient,
  event: RecipientEvent,
): Promise<RecipientDecision> {
  const decision = decide(kind, before, event);
  const { state, action } = decision;
  if (state !== before) await updateState(transaction, id, state);
  if (kind === "endpoint" && state.status !== before.status && event.type !== "deleted") {
    await notifyVendor(transaction, id, state);
  }
  if (action?.do === "schedule-recovery") {
    const { at: startAfter, pace } = action;
    await scheduleRecovery(transaction, queue, id, { startAfter, pace });
  }
  return decision;
}

/** Locks the recipient and applies an event to it. */
export async function applyRecipientEvent(
  transaction: Transaction<DB>,
  queue: Queue,
  recipientId: string,
  event: RecipientEvent,
): Promise<RecipientDecision> {
  return applyToLocked(transaction, queue, await lockRecipient(transaction, recipientId), event);
}

/** Locks these recipients and applies an event to each, in a fixed number of statements. */
export async function applyRecipientEvents(
  transaction: Transaction<DB>,
  queue: Queue,
  events: ReadonlyMap<string, RecipientEvent>,
): Promise<void> {
  const changed: { id: string; state: RecipientDecision["state"] }[] = [];
  const recoveries = new Map<string, { startAfter: Date; pace: number | undefined; ids: string[] }>();
  for (const { id, kind, state: before } of await lockRecipients(transaction, [...events.keys()])) {
    const event = events.get(id);
    if (event === undefined) continue;
    const { state, action } = decide(kind, before, event);
    if (state !== before) changed.push({ id, state });
    if (action?.do !== "schedule-recovery") continue;
    const { at: startAfter, pace } = action;
    const step = `${startAfter.getTime()} ${pace}`;
    const same = recoveries.get(step);
    if (same === undefined) recoveries.set(step, { startAfter, pace, ids: [id] });
    else same.ids.push(id);
  }
  await updateStates(transaction, changed);
  for (const { ids, ...step } of recoveries.values()) await scheduleRecoveries(transaction, queue, ids, step);
}

/** Schedules a probe of held recipients that have none; returns how many. Covers unknown bugs: transitions schedule probes. */
export async function scheduleMissingProbes(
  transaction: Transaction<DB>,
  queue: Queue,
  now: Date,
  limit: number,
): Promise<number> {
  const ids = await lockHeldWithoutProbe(transaction, limit);
  await scheduleRecoveries(transaction, queue, ids, { startAfter: now });
  return ids.length;
}

/** From now on deliveries to these recipients wait as rows, and recovery steps queue them as the recipients take them. */
export async function markCrowded(
  transaction: Transaction<DB>,
  queue: Queue,
  recipientIds: string[],
  now: Date,
): Promise<void> {
  await updateCrowded(transaction, recipientIds, true);
  await scheduleRecoveries(transaction, queue, recipientIds, { pace: firstPace, startAfter: now });
}

/** Lets these recipients of an origin that has responded recover by themselves. */
export async function recoverByThemselves(
  transaction: Transaction<DB>,
  queue: Queue,
  recipientIds: string[],
  at: Date,
): Promise<void> {
  // Locked, so that a step in progress that has read the origin as held can't replace this job afterwards.
  await lockRecipients(transaction, recipientIds);
  await scheduleRecoveries(transaction, queue, recipientIds, { startAfter: at, pace: firstPace });
}

/** Resets a deleted endpoint's recipient once it has no unsettled deliveries, so that it no longer counts as disabled. */
export async function drainRecipient(
  transaction: Transaction<DB>,
  queue: Queue,
  recipientId: string,
  hasUnsettled: () => Promise<boolean>,
): Promise<void> {
  const recipient = await lockRecipient(transaction, recipientId);
  // Deliveries that are being recorded as waiting are visible only after their commit, and a recipient that is active has no recovery.
  await takeRecoveryLock(transaction, recipientId);
  if (await hasUnsettled()) return;
  await applyToLocked(transaction, queue, recipient, { type: "drained" });
  await updateCrowded(transaction, [recipientId], false);
}
