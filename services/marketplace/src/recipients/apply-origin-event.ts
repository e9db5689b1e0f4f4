import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { decideOrigin, type OriginDecision, type OriginEvent } from "./origin.ts";
import { lockHeldOriginsWithoutProbe, type Origin, updateOrigin } from "./origin-store.ts";
import { scheduleOriginRecovery } from "./recovery-jobs.ts";

/** Applies an event to an origin whose row the caller has locked: stores its next state and schedules its recovery. */
export async function applyToLockedOrigin(
  transaction: Transaction<DB>,
  queue: Queue,
  { id, state: before }: Origin,
  event: OriginEvent,
): Promise<OriginDecision> {
  const decision = decideOrigin(before, event);
  const { state, action } = decision;
  if (state !== before) await updateOrigin(transaction, id, state);
  if (action?.do === "schedule-recovery") {
    const heldSince = before.heldSince ?? undefined;
    await scheduleOriginRecovery(transaction, queue, id, { startAfter: action.at, heldSince });
  }
  return decision;
}

/** Schedules a probe of held origins that have none; returns how many. Covers unknown bugs: transitions schedule probes. */
export async function scheduleMissingOriginProbes(
  transaction: Transaction<DB>,
  queue: Queue,
  now: Date,
  limit: number,
): Promise<number> {
  const ids = await lockHeldOriginsWithoutProbe(transaction, limit);
  for (const id of ids) await scheduleOriginRecovery(transaction, queue, id, { startAfter: now });
  return ids.length;
}
