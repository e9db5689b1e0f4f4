import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { applyToLockedOrigin } from "./apply-origin-event.ts";
import { applyRecipientEvent, applyToLocked } from "./apply-recipient-event.ts";
import type { OriginEvent } from "./origin.ts";
import { insertOrigin, lockOrigins, type Origin } from "./origin-store.ts";
import type { RecipientEvent } from "./recipient.ts";
import { findFailing, lockRecipients, readCallback } from "./recipient-store.ts";

/** What an attempt says about the host of the callback. */
export type Reachability = "responded" | "unreachable" | "unknown";

/** An origin that has become held, or active again. */
export interface OriginChange {
  origin: string;
  status: "active" | "held";
}

/**
 * Records that these recipients have accepted a delivery. Of the origins of EHRs among them, returns those that are failing or held:
 * `recordResponses` records that they have responded.
 */
export async function recordSuccesses(
  transaction: Transaction<DB>,
  queue: Queue,
  succeeded: { recipientIds: string[]; origins: string[] },
  at: Date,
): Promise<{ failingOrigins: string[] }> {
  const failing = await findFailing(transaction, succeeded);
  for (const recipient of await lockRecipients(transaction, failing.recipientIds)) {
    await applyToLocked(transaction, queue, recipient, { type: "delivery-succeeded", at, hasCallback: true });
  }
  return { failingOrigins: failing.origins };
}

/** Records that these origins have responded. A recovery step may keep an origin locked for seconds, so settling doesn't include this. */
export async function recordResponses(
  database: Kysely<DB>,
  queue: Queue,
  origins: string[],
  at: Date,
): Promise<OriginChange[]> {
  return database.transaction().execute(async (transaction) => {
    const changes: OriginChange[] = [];
    for (const origin of await lockOrigins(transaction, { origins })) {
      changes.push(...(await applyOriginEvent(transaction, queue, origin, { type: "responded", at })));
    }
    return changes;
  });
}

export interface FailedAttempt {
  deliveryId: string;
  recipientId: string;
  /** Of an EHR's callback. */
  origin: string | null;
  reachability: Reachability;
  isProbe: boolean;
  isGone: boolean;
  /** Of an event that an EHR needn't know. */
  isRefusal: boolean;
  at: Date;
}

export interface RecordedFailure {
  /** The recipient or its origin is held, or the recipient is disabled. */
  mustWait: boolean;
  changes: OriginChange[];
}

/** Records a failed attempt. The origin is locked before the recipient, as by its recovery. */
export async function recordFailure(
  transaction: Transaction<DB>,
  queue: Queue,
  failed: FailedAttempt,
): Promise<RecordedFailure> {
  const { recipientId, origin, isProbe, isGone, isRefusal, at } = failed;
  const changes = origin === null ? [] : await recordOriginAttempt(transaction, queue, origin, failed);
  const event: RecipientEvent = isRefusal
    ? { type: "event-refused", at, isProbe }
    : { type: "delivery-failed", at, isProbe, isGone };
  const { state } = await applyRecipientEvent(transaction, queue, recipientId, event);
  if (state.status !== "active") return { mustWait: true, changes };
  // The callback may have moved to another origin since the attempt began.
  return { mustWait: origin !== null && (await readCallback(transaction, recipientId)).originHeld, changes };
}

async function recordOriginAttempt(
  transaction: Transaction<DB>,
  queue: Queue,
  origin: string,
  failed: FailedAttempt,
): Promise<OriginChange[]> {
  if (failed.reachability === "unreachable") await insertOrigin(transaction, origin);
  const [locked] = await lockOrigins(transaction, { origins: [origin] });
  if (locked === undefined) return [];
  const event = toOriginEvent(locked, failed);
  return event === undefined ? [] : applyOriginEvent(transaction, queue, locked, event);
}

function toOriginEvent(origin: Origin, failed: FailedAttempt): OriginEvent | undefined {
  const { at, recipientId, isProbe, reachability } = failed;
  if (reachability === "responded") return { type: "responded", at };
  if (isProbe && origin.probed_id === failed.deliveryId) return { type: "probe-failed", at };
  // A recipient that is held by itself says nothing new about its host.
  return reachability === "unreachable" && !isProbe ? { type: "unreachable", at, recipientId } : undefined;
}

async function applyOriginEvent(
  transaction: Transaction<DB>,
  queue: Queue,
  origin: Origin,
  event: OriginEvent,
): Promise<OriginChange[]> {
  const { state } = await applyToLockedOrigin(transaction, queue, origin, event);
  return state.status === origin.state.status ? [] : [{ origin: origin.origin, status: state.status }];
}
