import type { SubscriptionDto, SubscriptionState } from "@ehr-marketplace/contracts";
import { useGenericPlans } from "@ehr-marketplace/service-kit/database";
import { forbidden, Problem, type ProblemKind, rateLimitProblem } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import { findRoleForOrganisation, type Role } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import type { RequestContext } from "../access/request-context.ts";
import { type Author, recordAudit } from "../audit/record-audit.ts";
import { findLimitInForce } from "../billing/limit-in-force.ts";
import { requireBelowSpendLimit } from "../billing/require-below-spend-limit.ts";
import type { UsageLimits } from "../billing/usage-limits.ts";
import type { DB } from "../database-schema.ts";
import { nextInstant } from "../events/event.ts";
import { maxEventsPerHour, msUntilNextEvent } from "../events/event-rate.ts";
import { recordEvent } from "../events/record-event.ts";
import { claimKey, type IdempotentRequest } from "../idempotency/run-idempotently.ts";
import { notifyOfPause } from "./notify-of-pause.ts";
import { addMissingScopes, readerRoles, subscriptionNotFound } from "./read-subscriptions.ts";
import {
  type Command,
  type Decision,
  decide,
  type Refusal,
  rolesForCommand,
  rolesForCommandInState,
} from "./subscription.ts";
import type { SubscriptionDeps } from "./subscription-deps.ts";
import { subscriptionProblems } from "./subscription-errors.ts";
import { auditedState, columnsOf, stateOf, subscriptionState } from "./subscription-record.ts";
import { isAppSuspended, type LockedSubscription, lockSubscription, updateSubscription } from "./subscription-store.ts";

const refusals: Record<Refusal, ProblemKind> = {
  cancelled: subscriptionProblems.cancelled,
  "paused-for-another-reason": subscriptionProblems.pausedForAnotherReason,
  "not-cancelled": subscriptionProblems.notCancelled,
};

/** Runs a command (cancel, pause, resume, lift-block): checks access, decides, and records row, event and audit entry. */
export async function changeSubscription(
  { database, clock, queue, bodyDigest, usageLimits }: SubscriptionDeps,
  by: RequestContext,
  id: string,
  command: Command,
  idempotentRequest: IdempotentRequest,
): Promise<SubscriptionDto> {
  const now = clock();
  return database.transaction().execute(async (transaction) => {
    await useGenericPlans(transaction);
    const runOnce = await claimKey(transaction, { caller: by.caller, now, bodyDigest }, idempotentRequest);
    const locked = await lockSubscription(transaction, id);
    if (locked === undefined) throw subscriptionNotFound();
    // Access is checked twice. Here: may the caller give this command in any state? Inside: in the current state? A repeated
    // request gets its stored response even if the state has changed to one in which the caller may not give the command.
    requireCommandRole(by, locked, rolesForCommand(command));
    const changed = await runOnce(async () => {
      if (command.do === "resume") await requireResumable(transaction, locked, usageLimits, now);
      const role = requireCommandRole(by, locked, rolesForCommandInState(stateOf(locked.row), command));
      const decision = decide(stateOf(locked.row), command);
      switch (decision.outcome) {
        case "refused":
          throw new Problem(refusals[decision.because], `Subscription ${id} is ${describeState(locked)}.`);
        case "unchanged":
          return subscriptionState(locked.row);
        case "changed":
          if (decision.event !== null) await requireChangeAllowed(transaction, by, locked, now);
          return applyChange(transaction, queue, { by, role, locked, command, decision, now });
      }
    });
    return { ...(await addMissingScopes(transaction, changed)), pricingPlan: locked.row.pricing_plan };
  });
}

async function requireResumable(
  transaction: Transaction<DB>,
  locked: LockedSubscription,
  usageLimits: UsageLimits,
  now: Date,
): Promise<void> {
  await requireAppNotSuspended(transaction, locked);
  const { id, pricing_plan: plan, pause_reason: reason } = locked.row;
  if (reason !== "SPEND_LIMIT") return;
  const limit = await findLimitInForce(transaction, { id, plan }, usageLimits);
  await requireBelowSpendLimit(transaction, { id, limit, now });
}

/** Nobody resumes a subscription while its app is suspended, also if it was paused for another reason. */
async function requireAppNotSuspended(transaction: Transaction<DB>, { row }: LockedSubscription): Promise<void> {
  if (row.status !== "paused" || !(await isAppSuspended(transaction, row.app_id))) return;
  throw new Problem(subscriptionProblems.appSuspended, `The app ${row.app_slug} is suspended.`);
}

export function requireCommandRole(
  { caller }: RequestContext,
  { row }: LockedSubscription,
  allowed: readonly Role[],
): Role {
  const role = findRoleForOrganisation(caller, row.org_alias, allowed);
  if (role !== undefined) return role;
  if (findRoleForOrganisation(caller, row.org_alias, [...readerRoles, "billing"]) === undefined)
    throw subscriptionNotFound();
  const required = `This requires the role ${allowed.join(" or ")} for the organisation ${row.org_alias}`;
  throw forbidden(caller, `${required}; the subscription is ${describeState({ row })}.`);
}

const describeState = ({ row }: Pick<LockedSubscription, "row">): string =>
  row.pause_reason === null ? row.status : `${row.status} for ${row.pause_reason}`;

/** Limits changes per hour, because each one causes deliveries to the EHR and to every endpoint of the vendor. */
export async function requireChangeAllowed(
  transaction: Transaction<DB>,
  by: RequestContext,
  { row }: { row: ChangedRow },
  now: Date,
): Promise<void> {
  const retryAfterMs = await msUntilChangeAllowed(transaction, by, row, now);
  if (retryAfterMs === 0) return;
  throw rateLimitProblem(
    subscriptionProblems.changedTooOften,
    `Subscription ${row.id} has changed ${maxEventsPerHour} times within an hour.`,
    { limit: maxEventsPerHour, retryAfterMs },
  );
}

export const isChangeAllowed = async (
  transaction: Transaction<DB>,
  by: RequestContext,
  row: ChangedRow,
  now: Date,
): Promise<boolean> => (await msUntilChangeAllowed(transaction, by, row, now)) === 0;

type ChangedRow = Pick<LockedSubscription["row"], "id" | "revision">;

const msUntilChangeAllowed = async (
  transaction: Transaction<DB>,
  { caller }: RequestContext,
  row: ChangedRow,
  now: Date,
): Promise<number> => (caller.roles.has("operator") ? 0 : msUntilNextEvent(transaction, row, now));

interface Change {
  by: Author;
  role: Role;
  locked: LockedSubscription;
  command: Command;
  decision: Extract<Decision, { outcome: "changed" }>;
  now: Date;
}

export async function applyChange(
  transaction: Transaction<DB>,
  queue: Queue,
  change: Change,
): Promise<SubscriptionState> {
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
    const reason = state.status === "paused" ? state.reason : null;
    const told = { event, role: change.role, reason, revision: changes.revision, at };
    await notifyOfPause(transaction, change.locked, told);
  }
  await recordAudit(transaction, {
    by: change.by,
    role: change.role,
    at,
    onBehalfOf: row.org_alias,
    action: `subscription.${change.command.do}`,
    target: { kind: "subscription", id: row.id },
    before: auditedState(row),
    after: auditedState(changed),
  });
  return subscriptionState(changed);
}
