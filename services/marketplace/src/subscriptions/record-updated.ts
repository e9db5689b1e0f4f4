import type { EventApp, SubscriptionState } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import { type Author, recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { recordEvent } from "../events/record-event.ts";
import { auditedState, subscriptionState } from "./subscription-record.ts";
import type { SubscriptionRow } from "./subscription-store.ts";

interface Update {
  by: Author;
  role: Role;
  action: "subscription.consent" | "subscription.change-terms";
  before: SubscriptionRow;
  after: SubscriptionRow;
  app: EventApp;
  vendorId: string;
}

/** Records that scopes, plan or quantity of a live subscription have changed: the event `subscription.updated` and the audit entry. */
export async function recordUpdated(
  transaction: Transaction<DB>,
  queue: Queue,
  { by, role, action, before, after, app, vendorId }: Update,
): Promise<SubscriptionState> {
  const { id, org_alias: orgAlias, organisation_id: organisationId, revision, updated_at: at } = after;
  await recordEvent(transaction, queue, {
    event: "subscription.updated",
    app,
    subscription: { id, status: after.status as "active" | "paused", orgAlias },
    pauseReason: null,
    organisationId,
    vendorId,
    sequence: revision,
    occurredAt: at,
  });
  await recordAudit(transaction, {
    by,
    role,
    at,
    onBehalfOf: orgAlias,
    action,
    target: { kind: "subscription", id },
    before: auditedState(before),
    after: auditedState(after),
  });
  return subscriptionState(after);
}
