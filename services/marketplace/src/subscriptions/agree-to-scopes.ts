import type { ConsentBody, SubscriptionDto } from "@ehr-marketplace/contracts";
import { useGenericPlans } from "@ehr-marketplace/service-kit/database";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import type { RequestContext } from "../access/request-context.ts";
import type { DB } from "../database-schema.ts";
import { nextInstant } from "../events/event.ts";
import { claimKey, type IdempotentRequest } from "../idempotency/run-idempotently.ts";
import { areSameScopes } from "./agreed-scopes.ts";
import { requireChangeAllowed } from "./change-subscription.ts";
import { lockOwnSubscription } from "./lock-subscription.ts";
import { recordUpdated } from "./record-updated.ts";
import type { SubscriptionDeps } from "./subscription-deps.ts";
import { subscriptionProblems } from "./subscription-errors.ts";
import { subscriptionState } from "./subscription-record.ts";
import {
  insertScopeAgreement,
  type LockedSubscription,
  lockSubscription,
  updateAgreedScopes,
} from "./subscription-store.ts";

const consentRoles: readonly Role[] = ["org-admin", "operator"];

/**
 * Records that an organisation, or an operator for it, agrees to the scopes that the app has now. One agrees to what one has seen: `fhirScopes` must be the current
 * ones. If all of them are agreed to already, nothing changes.
 */
export async function agreeToScopes(
  { database, clock, queue, bodyDigest }: SubscriptionDeps,
  by: RequestContext,
  id: string,
  { fhirScopes }: ConsentBody,
  idempotentRequest: IdempotentRequest,
): Promise<SubscriptionDto> {
  const now = clock();
  return database.transaction().execute(async (transaction) => {
    await useGenericPlans(transaction);
    const runOnce = await claimKey(transaction, { caller: by.caller, now, bodyDigest }, idempotentRequest);
    const { locked, role } = await lockOwnSubscription(transaction, by, id, consentRoles);
    const agreed = await runOnce(async () => {
      // A statement that waited for a lock has read only the locked row again, not its app: the scopes may be from before.
      const current = (await lockSubscription(transaction, id)) ?? locked;
      const { row } = current;
      if (row.status === "cancelled") {
        throw new Problem(subscriptionProblems.cancelled, `Subscription ${id} is cancelled.`);
      }
      if (!areSameScopes(fhirScopes, row.app_fhir_scopes)) {
        const detail = "are not the app's current scopes";
        throw new Problem(subscriptionProblems.scopesChanged, `/body/fhirScopes ${detail}.`, {
          errors: [{ pointer: "/body/fhirScopes", detail }],
        });
      }
      if (row.scopes.missing === "") return subscriptionState(row);
      await requireChangeAllowed(transaction, by, current, now);
      return applyAgreement(transaction, queue, { by, role, locked: current, now });
    });
    return { ...agreed, pricingPlan: locked.row.pricing_plan };
  });
}

interface Agreement {
  by: RequestContext;
  role: Role;
  locked: LockedSubscription;
  now: Date;
}

async function applyAgreement(transaction: Transaction<DB>, queue: Queue, { by, role, locked, now }: Agreement) {
  const { row, app, vendorId } = locked;
  const at = nextInstant(now, row.updated_at);
  const changes = { fhir_scopes: row.app_fhir_scopes, updated_at: at, revision: row.revision + 1 };
  await insertScopeAgreement(transaction, {
    subscription_id: row.id,
    revision: changes.revision,
    fhir_scopes: changes.fhir_scopes,
    issuer: by.caller.issuer,
    subject: by.caller.subject,
    role,
    agreed_at: at,
  });
  await updateAgreedScopes(transaction, row.id, changes);
  const changed = { ...row, ...changes, scopes: { inForce: row.app_fhir_scopes, missing: "" } };
  return recordUpdated(transaction, queue, {
    by,
    role,
    action: "subscription.consent",
    before: row,
    after: changed,
    app: { ...app, fhirScopes: changed.scopes.inForce },
    vendorId,
  });
}
