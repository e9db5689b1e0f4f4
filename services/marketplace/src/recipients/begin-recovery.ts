import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { applyToLockedOrigin } from "./apply-origin-event.ts";
import { applyToLocked } from "./apply-recipient-event.ts";
import { lockOrigins, updateOriginProbe } from "./origin-store.ts";
import { lockRecipient, readCallback, takeRecoveryLock, updateCrowded, updateProbe } from "./recipient-store.ts";
import { type ScheduledOriginStep, scheduleOriginRecovery, scheduleRecovery } from "./recovery-jobs.ts";
import { originProbeDelayMs } from "./recovery-schedule.ts";

/** A recipient whose row is locked until the commit, with what its recovery step has to do. */
export interface RecoveringRecipient {
  id: string;
  action: "send-probe" | "release-waiting";
  crowded: boolean;
  probed_id: string | null;
  /** To be called before the recovery ends; afterwards it looks for waiting deliveries again: see recovery-locks.ts. */
  waitForWriters(): Promise<void>;
  /** No delivery waits that could be a probe. */
  reactivate(): Promise<void>;
  setProbe(deliveryId: string): Promise<void>;
  setCrowded(crowded: boolean): Promise<void>;
  /** Schedules the next step. */
  continueAt(at: Date, pace?: number): Promise<void>;
}

/** Locks the recipient and decides on its next recovery step; undefined when there is none, or another worker owns it. */
export async function beginRecovery(
  transaction: Transaction<DB>,
  queue: Queue,
  recipientId: string,
  now: Date,
  isOwned: () => Promise<boolean>,
): Promise<RecoveringRecipient | undefined> {
  const recipient = await lockRecipient(transaction, recipientId);
  if (!(await isOwned())) return undefined;
  const { id, kind, crowded, probed_id } = recipient;
  const { action } = await applyToLocked(transaction, queue, recipient, {
    type: "recovery-due",
    at: now,
    ...(kind === "endpoint" ? { hasCallback: true, originHeld: false } : await readCallback(transaction, id)),
  });
  if (action === undefined || action.do === "schedule-recovery") return undefined;
  return {
    id,
    action: action.do,
    crowded,
    probed_id,
    waitForWriters: () => takeRecoveryLock(transaction, id),
    reactivate: async () => {
      await applyToLocked(transaction, queue, recipient, { type: "nothing-to-probe" });
    },
    setProbe: (deliveryId) => updateProbe(transaction, id, deliveryId),
    setCrowded: async (value) => {
      if (value !== crowded) await updateCrowded(transaction, [id], value);
    },
    continueAt: (startAfter, pace) => scheduleRecovery(transaction, queue, id, { startAfter, pace }),
  };
}

/** An origin whose row is locked until the commit, with what its recovery step has to do. */
export interface RecoveringOrigin {
  id: string;
  origin: string;
  action: "send-probe" | "release-waiting";
  probed_id: string | null;
  /** Waits for transactions that have read the origin as held; then their deliveries are visible: see recovery-locks.ts. */
  waitForWriters(): Promise<void>;
  /** No delivery waits that could be a probe. */
  reactivate(): Promise<void>;
  setProbe(deliveryId: string): Promise<void>;
  /** Schedules the next step. */
  continueAt(step: ScheduledOriginStep): Promise<void>;
}

/** Locks the origin and decides on its next recovery step; undefined when another worker owns it. */
export async function beginOriginRecovery(
  transaction: Transaction<DB>,
  queue: Queue,
  originId: string,
  now: Date,
  isOwned: () => Promise<boolean>,
): Promise<RecoveringOrigin | undefined> {
  const [locked] = await lockOrigins(transaction, { ids: [originId] });
  if (locked === undefined || !(await isOwned())) return undefined;
  const { action } = await applyToLockedOrigin(transaction, queue, locked, { type: "recovery-due" });
  if (action === undefined || action.do === "schedule-recovery") return undefined;
  const { id, origin, probed_id } = locked;
  const continueAt = (step: ScheduledOriginStep): Promise<void> => scheduleOriginRecovery(transaction, queue, id, step);
  return {
    id,
    origin,
    action: action.do,
    probed_id,
    waitForWriters: () => takeRecoveryLock(transaction, id),
    reactivate: async () => {
      await applyToLockedOrigin(transaction, queue, locked, { type: "nothing-to-probe", at: now });
    },
    setProbe: async (deliveryId) => {
      await updateOriginProbe(transaction, id, deliveryId);
      // If this probe is never settled, for example because the callback moves, another one follows.
      await continueAt({ startAfter: new Date(now.getTime() + 2 * originProbeDelayMs) });
    },
    continueAt,
  };
}
