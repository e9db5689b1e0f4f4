import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import type { Author } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { applyChange } from "./change-subscription.ts";
import { decide } from "./subscription.ts";
import { stateOf } from "./subscription-record.ts";
import type { LockedSubscription } from "./subscription-store.ts";

/** Pauses a locked subscription, if it is active, for whoever has set its spend limit. */
export async function pauseForSpendLimit(
  transaction: Transaction<DB>,
  queue: Queue,
  { locked, by, role, now }: { locked: LockedSubscription; by: Author; role: Role; now: Date },
): Promise<void> {
  const command = { do: "pause", reason: "SPEND_LIMIT" } as const;
  const decision = decide(stateOf(locked.row), command);
  if (decision.outcome === "changed")
    await applyChange(transaction, queue, { by, role, locked, command, decision, now });
}
