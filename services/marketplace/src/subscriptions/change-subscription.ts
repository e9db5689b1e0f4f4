import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { forbidden, Problem, type ProblemKind, rateLimited } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import { type Role, roleFor } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import type { Asked } from "../access/role-for.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { once, type Repeatable } from "../idempotency/once.ts";
import { nextInstant } from "../webhooks/events/event.ts";
import { maxEventsPerHour, untilNextEvent } from "../webhooks/events/event-rate.ts";
import { recordEvent } from "../webhooks/events/record-event.ts";
import type { Subscribing } from "./create-subscription.ts";
import { absent, readers } from "./read-subscriptions.ts";
import { type Command, type Decision, decide, type Refusal, whoEverMay, whoMay } from "./subscription.ts";
import { subscriptionProblems } from "./subscription-errors.ts";
import { auditedState, columnsOf, stateOf, subscriptionRecord } from "./subscription-record.ts";
import { type LockedSubscription, lockSubscription, updateSubscription } from "./subscription-store.ts";

const refusals: Record<Refusal, ProblemKind> = {
  cancelled: subscriptionProblems.cancelled,
  "paused-for-another-reason": subscriptionProblems.pausedForAnotherReason,
  "not-cancelled": subscriptionProblems.notCancelled,
};

/** Cancels, pauses, resumes or lifts a block: whatever the command, it is checked, decided and recorded alike. */
export async function changeSubscription(
  { database, clock, queue, bodyDigest }: Subscribing,
  by: Asked,
  id: string,
  command: Command,
  repeatable: Repeatable,
): Promise<SubscriptionDto> {
  const now = clock();
  return database.transaction().execute(async (transaction) => {
    const locked = await lockSubscription(transaction, id);
    if (locked === undefined) throw absent();
    // Twice, because what a repeated request was answered is its caller's even where the state has since moved on to one
    // in which another decides; for whoever may not give this command at all, nothing is looked up.
    roleToCommand(by, locked, whoEverMay(command));
    return once(transaction, { caller: by.caller, now, bodyDigest }, repeatable, async () => {
      const role = roleToCommand(by, locked, whoMay(stateOf(locked.row), command));
      const decision = decide(stateOf(locked.row), command);
      switch (decision.outcome) {
        case "refused":
          throw new Problem(refusals[decision.because], `Subscription ${id} is ${locked.row.status}.`);
        case "unchanged":
          return subscriptionRecord(locked.row);
        case "changed":
          if (decision.event !== null) await requireChangeAllowed(transaction, by, locked, now);
          return carryOut(transaction, queue, { by, role, locked, command, decision, now });
      }
    });
  });
}

function roleToCommand({ caller }: Asked, { row }: LockedSubscription, allowed: readonly Role[]): Role {
  const role = roleFor(caller, row.org_alias, allowed);
  if (role !== undefined) return role;
  if (roleFor(caller, row.org_alias, [...readers, "billing"]) === undefined) throw absent();
  throw forbidden(caller, `This needs the role ${allowed.join(" or ")} for the subscription's organisation.`);
}

/** Each change is a delivery for the EHR and for every endpoint of the vendor. */
async function requireChangeAllowed(
  transaction: Transaction<DB>,
  { caller }: Asked,
  { row }: LockedSubscription,
  now: Date,
): Promise<void> {
  if (caller.roles.has("operator")) return;
  const retryAfterMs = await untilNextEvent(transaction, row, now);
  if (retryAfterMs === 0) return;
  throw rateLimited(
    subscriptionProblems.changedTooOften,
    `Subscription ${row.id} has changed ${maxEventsPerHour} times within an hour.`,
    { limit: maxEventsPerHour, retryAfterMs },
  );
}

interface Change {
  by: Asked;
  role: Role;
  locked: LockedSubscription;
  command: Command;
  decision: Extract<Decision, { outcome: "changed" }>;
  now: Date;
}

async function carryOut(transaction: Transaction<DB>, queue: Queue, change: Change): Promise<SubscriptionDto> {
  const { row, app } = change.locked;
  const { state, event } = change.decision;
  const at = nextInstant(change.now, row.updated_at);
  const changes = { ...columnsOf(state, row, at), revision: row.revision + (event === null ? 0 : 1) };
  await updateSubscription(transaction, row.id, changes);
  const changed = { ...row, ...changes };
  if (event !== null) {
    await recordEvent(transaction, queue, {
      event,
      app,
      subscription: { id: row.id, status: state.status, orgAlias: row.org_alias },
      pauseReason: changes.pause_reason,
      organisationId: row.organisation_id,
      vendorId: change.locked.vendorId,
      sequence: changes.revision,
      occurredAt: at,
    });
  }
  await recordAudit(transaction, {
    by: change.by,
    as: change.role,
    at,
    onBehalfOf: row.org_alias,
    action: `subscription.${change.command.do}`,
    target: { kind: "subscription", id: row.id },
    before: auditedState(row),
    after: auditedState(changed),
  });
  return subscriptionRecord(changed);
}
