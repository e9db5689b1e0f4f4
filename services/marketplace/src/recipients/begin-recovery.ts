import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { applyToLocked } from "./apply-recipient-event.ts";
import { lockRecipient, lockRecoveryEnd, readCallback, updateCrowded, updateProbe } from "./recipient-store.ts";
import { scheduleRecovery } from "./recovery-jobs.ts";

/** A recipient whose row is locked until the commit, with what its recovery step has to do. */
export interface RecoveringRecipient {
  id: string;
  action: "send-probe" | "release-waiting";
  crowded: boolean;
  probed_id: string | null;
  /** Has to be called before the recovery ends, and then it has to look for waiting deliveries once more: see `findOpened`. */
  prepareEnd(): Promise<void>;
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
    ...(kind === "endpoint" ? { hasAddress: true, originHeld: false } : await readCallback(transaction, id)),
  });
  if (action === undefined || action.do === "plan-recovery") return undefined;
  return {
    id,
    action: action.do,
    crowded,
    probed_id,
    prepareEnd: () => lockRecoveryEnd(transaction, id),
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
