import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { decideOrigin, type OriginDecision, type OriginEvent } from "./origin.ts";
import {
  insertOrigin,
  lockHeldOriginsWithoutProbe,
  lockOrigins,
  type Origin,
  updateOrigin,
  updateOriginProbe,
} from "./origin-store.ts";
import { lockRecoveryEnd } from "./recipient-store.ts";
import { scheduleOriginRecovery } from "./recovery-jobs.ts";
import { firstOriginPace } from "./recovery-schedule.ts";

/** What an attempt says about the host of the callback. */
export type Reachability = "responded" | "unreachable" | "unknown";

/** Applies an event to an origin whose row the caller has locked: stores its next state and schedules its recovery. */
async function applyToLocked(
  transaction: Transaction<DB>,
  queue: Queue,
  { id, state: before }: Origin,
  event: OriginEvent,
): Promise<OriginDecision> {
  const decision = decideOrigin(before, event);
  const { state, action } = decision;
  if (state !== before) await updateOrigin(transaction, id, state);
  if (action?.do === "plan-recovery") {
    await scheduleOriginRecovery(transaction, queue, id, { startAfter: action.at, pace: firstOriginPace });
  }
  return decision;
}

/** Records that these origins have responded. */
export async function recordResponses(
  transaction: Transaction<DB>,
  queue: Queue,
  origins: string[],
  at: Date,
): Promise<void> {
  if (origins.length === 0) return;
  for (const origin of await lockOrigins(transaction, { origins })) {
    await applyToLocked(transaction, queue, origin, { type: "responded", at });
  }
}

/** Records a failed attempt at a delivery to an EHR, and returns whether the origin of its callback is now held. */
export async function recordOriginFailure(
  transaction: Transaction<DB>,
  queue: Queue,
  failed: { origin: string; reachability: Reachability; deliveryId: string; recipientId: string; at: Date },
): Promise<boolean> {
  const { at, recipientId, reachability } = failed;
  if (reachability === "unreachable") await insertOrigin(transaction, failed.origin);
  const [origin] = await lockOrigins(transaction, { origins: [failed.origin] });
  if (origin === undefined) return false;
  const isProbe = origin.probed_id === failed.deliveryId;
  const event: OriginEvent | undefined = {
    responded: { type: "responded", at } as const,
    unreachable: { type: "unreachable", at, recipientId, isProbe } as const,
    unknown: isProbe ? ({ type: "probe-inconclusive", at } as const) : undefined,
  }[reachability];
  if (event === undefined) return origin.state.status === "held";
  const { state } = await applyToLocked(transaction, queue, origin, event);
  return state.status === "held";
}

/** An origin whose row is locked until the commit, with what its recovery step has to do. */
export interface RecoveringOrigin {
  id: string;
  origin: string;
  action: "send-probe" | "release-waiting";
  probed_id: string | null;
  /** Waits for transactions that have read the origin as held; then their deliveries are visible. */
  waitForWriters(): Promise<void>;
  /** No delivery waits that could be a probe. */
  reactivate(): Promise<void>;
  setProbe(deliveryId: string): Promise<void>;
  /** Schedules the next step. */
  continueAt(at: Date, step: { pace: number; after?: string | undefined }): Promise<void>;
}

/** Locks the origin and decides on its next recovery step; undefined when another worker owns it. */
export async function beginOriginRecovery(
  transaction: Transaction<DB>,
  queue: Queue,
  originId: string,
  isOwned: () => Promise<boolean>,
): Promise<RecoveringOrigin | undefined> {
  const [locked] = await lockOrigins(transaction, { ids: [originId] });
  if (locked === undefined || !(await isOwned())) return undefined;
  const { action } = await applyToLocked(transaction, queue, locked, { type: "recovery-due" });
  if (action === undefined || action.do === "plan-recovery") return undefined;
  const { id, origin, probed_id } = locked;
  return {
    id,
    origin,
    action: action.do,
    probed_id,
    waitForWriters: () => lockRecoveryEnd(transaction, id),
    reactivate: async () => {
      await applyToLocked(transaction, queue, locked, { type: "nothing-to-probe" });
    },
    setProbe: (deliveryId) => updateOriginProbe(transaction, id, deliveryId),
    continueAt: (startAfter, step) => scheduleOriginRecovery(transaction, queue, id, { startAfter, ...step }),
  };
}

/** Schedules a probe of held origins that have none; returns how many. Covers unknown bugs: transitions schedule probes. */
export async function scheduleMissingOriginProbes(
  transaction: Transaction<DB>,
  queue: Queue,
  now: Date,
  limit: number,
): Promise<number> {
  const ids = await lockHeldOriginsWithoutProbe(transaction, limit);
  for (const id of ids) {
    await scheduleOriginRecovery(transaction, queue, id, { startAfter: now, pace: firstOriginPace });
  }
  return ids.length;
}
