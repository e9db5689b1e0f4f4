import { allPauseReasons } from "@ehr-marketplace/contracts";

export type PauseReason = (typeof allPauseReasons)[number];

/** The reason as an event or the list says it; null for one that this version doesn't know. */
export const knownPauseReason = (given: unknown): PauseReason | null =>
  allPauseReasons.find((known) => known === given) ?? null;

interface PausableState {
  status: string;
  /** Null: not known, or not paused. */
  pauseReason: string | null;
}

/** Whether a change to the listed state ends a cancellation, or a pause that only the marketplace's operators end. An unknown reason may be one. */
export function isRevival(stored: PausableState, listed: { status: string }): boolean {
  if (stored.status === "cancelled") return listed.status !== "cancelled";
  const isHeld = stored.status === "paused" && [null, "SECURITY", "OPERATOR_HOLD"].includes(stored.pauseReason);
  return isHeld && listed.status === "active";
}
