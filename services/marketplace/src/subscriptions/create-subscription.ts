import type { CreateSubscriptionBody, PricingPlanDto, SubscriptionDto } from "@ehr-marketplace/contracts";
import { Problem, type ProblemKind, rateLimitProblem } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { RequestContext } from "../access/request-context.ts";
import { requireRole } from "../access/require-role.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { formatDecimal } from "../billing/charge-line.ts";
import { enforceSpendLimit, type LimitAuthor } from "../billing/enforce-spend-limit.ts";
import { findLimitInForce, type LimitInForce } from "../billing/limit-in-force.ts";
import { priceOfInterval } from "../billing/price.ts";
import { setFirstLimit } from "../billing/set-spend-limit.ts";
import { findOffer, getPlan, type Offer } from "../catalog/find-offer.ts";
import type { DB } from "../database-schema.ts";
import { recordEvent } from "../events/record-event.ts";
import { type IdempotentRequest, runIdempotently } from "../idempotency/run-idempotently.ts";
import { findOrganisationKind } from "../organisations/read-organisations.ts";
import { areSameScopes } from "./agreed-scopes.ts";
import { continueAccount } from "./continue-account.ts";
import { lockAnySubscription } from "./lock-subscription.ts";
import { addMissingScopes } from "./read-subscriptions.ts";
import { type BlockReason, rolesForCommandInState } from "./subscription.ts";
import type { SubscriptionDeps } from "./subscription-deps.ts";
import { subscriptionProblems } from "./subscription-errors.ts";
import { auditedState, subscriptionState } from "./subscription-record.ts";
import {
  findConflictingSubscription,
  findNthCreation,
  insertBaaAgreement,
  insertScopeAgreement,
  insertSubscription,
  type NewSubscription,
  type SubscriptionRow,
} from "./subscription-store.ts";
import { findTrialEnd } from "./trial.ts";

const dayMs = 86_400_000;
const maxCreationsPerDay = 30;
const maxAttempts = 3;

export const invalidField = (kind: ProblemKind, field: string, detail: string): Problem =>
  new Problem(kind, `/body/${field} ${detail}.`, { errors: [{ pointer: `/body/${field}`, detail }] });

export async function createSubscription(
  { database, clock, queue, bodyDigest, usageLimits }: SubscriptionDeps,
  by: RequestContext,
  input: CreateSubscriptionBody,
  idempotentRequest: IdempotentRequest,
): Promise<SubscriptionDto> {
  const role = requireRole(by.caller, input.orgAlias, ["org-admin", "operator"]);
  const now = clock();
  return database.transaction().execute(async (transaction) => {
    let pricingPlan: PricingPlanDto | undefined;
    const context = { caller: by.caller, now, bodyDigest };
    const created = await runIdempotently(transaction, context, idempotentRequest, async () => {
      const { app, plan, vendorId, baaDocument } = await requireOffer(transaction, input);
      pricingPlan = plan;
      const organisationId = await requireLiveOrganisation(transaction, input.orgAlias);
      if (role !== "operator") await requireCreationAllowed(transaction, organisationId, app.id, now);
      const quantity = countsUnits(plan) ? (input.quantity ?? 1) : null;
      const inserted = await insertSubscriptionOrThrow(transaction, {
        id: uuid(),
        organisation_id: organisationId,
        app_id: app.id,
        pricing_plan_id: plan.id,
        quantity,
        interval_amount: formatDecimal(priceOfInterval(plan, quantity)),
        fhir_scopes: app.fhirScopes,
        status: "active",
        trial_end: findTrialEnd(now, plan),
        created_at: now,
        updated_at: now,
        revision: 1,
      });
      const { isContinued } = await continueAccount(transaction, {
        id: inserted.id,
        organisationId,
        appId: app.id,
        currency: plan.currency,
        now,
      });
      const { spendLimit } = input;
      if (spendLimit !== undefined) {
        const limit = { ...spendLimit, amount: BigInt(spendLimit.amount) };
        await setFirstLimit(transaction, { id: inserted.id, limit, by: { ...by, role }, now });
      }
      const row: SubscriptionRow = {
        ...inserted,
        org_alias: input.orgAlias,
        app_slug: app.slug,
        app_fhir_scopes: app.fhirScopes,
        scopes: { inForce: app.fhirScopes, missing: "" },
        pricing_plan: plan,
      };
      const agreement = {
        subscription_id: row.id,
        issuer: by.caller.issuer,
        subject: by.caller.subject,
        role,
        agreed_at: now,
      };
      await insertScopeAgreement(transaction, { ...agreement, revision: row.revision, fhir_scopes: row.fhir_scopes });
      if (baaDocument !== null) await insertBaaAgreement(transaction, { ...agreement, document_sha256: baaDocument });
      await recordEvent(transaction, queue, {
        event: "subscription.created",
        app,
        subscription: { id: row.id, status: "active", orgAlias: input.orgAlias },
        pauseReason: null,
        organisationId,
        vendorId,
        sequence: row.revision,
        occurredAt: now,
      });
      await recordAudit(transaction, {
        by,
        role,
        at: now,
        onBehalfOf: input.orgAlias,
        action: "subscription.create",
        target: { kind: "subscription", id: row.id },
        before: null,
        after: {
          ...auditedState(row),
          ...(baaDocument === null ? {} : { acceptedBaaSha256: baaDocument }),
          ...(spendLimit === undefined ? {} : { spendLimit }),
        },
      });
      if (!isContinued) return subscriptionState(row);
      const limit = await findLimitInForce(transaction, { id: row.id, plan }, usageLimits);
      return limitedState(transaction, queue, row.id, { limit, by: { ...by, role }, now });
    });
    // The response to a repeated request is stored without its plan.
    pricingPlan ??= await getPlan(transaction, created.pricingPlanId);
    return { ...(await addMissingScopes(transaction, created)), pricingPlan };
  });
}

/** The state of a subscription after its limit was compared with what its account costs. One that is reached already pauses it. */
export async function limitedState(
  transaction: Transaction<DB>,
  queue: Queue,
  id: string,
  { limit, by, now }: { limit: LimitInForce | undefined; by: LimitAuthor; now: Date },
) {
  if (limit !== undefined) await enforceSpendLimit(transaction, queue, { id, limit, by, now });
  const locked = await lockAnySubscription(transaction, id);
  if (locked === undefined) throw new Error(`subscription ${id} is gone`);
  return subscriptionState(locked.row);
}

const baaDetail = "must be true to subscribe to this app; the agreement is at its baaUrl";

export const countsUnits = ({ pricingModel }: PricingPlanDto): boolean =>
  pricingModel === "PER_UNIT" || pricingModel === "TIERED";

async function requireOffer(
  transaction: Transaction<DB>,
  input: CreateSubscriptionBody,
): Promise<Offer & { plan: NonNullable<Offer["plan"]> }> {
  const noSuchPlan = "is not a plan that this app has on sale";
  const offer = await findOffer(transaction, input.appSlug, input.pricingPlanId);
  if (offer === undefined) throw invalidField(subscriptionProblems.unknownApp, "appSlug", "is not a published app");
  const { plan } = offer;
  if (plan === undefined) throw invalidField(subscriptionProblems.unknownPlan, "pricingPlanId", noSuchPlan);
  if (input.quantity !== undefined && !countsUnits(plan)) {
    throw invalidField(subscriptionProblems.quantityNotCounted, "quantity", "is not allowed for this plan");
  }
  if (input.fhirScopes !== undefined && !areSameScopes(input.fhirScopes, offer.app.fhirScopes)) {
    throw invalidField(subscriptionProblems.scopesChanged, "fhirScopes", "are not the app's current scopes");
  }
  if (offer.baaDocument !== null && input.acceptBaa !== true) {
    throw invalidField(subscriptionProblems.baaRequired, "acceptBaa", baaDetail);
  }
  if (offer.baaDocument !== null && input.baaSha256 !== undefined && input.baaSha256 !== offer.baaDocument) {
    throw invalidField(subscriptionProblems.baaChanged, "baaSha256", "is not the agreement that the app requires now");
  }
  return { ...offer, plan };
}

async function requireLiveOrganisation(transaction: Transaction<DB>, alias: string): Promise<string> {
  const found = await findOrganisationKind(transaction, alias);
  if (found === undefined) {
    throw invalidField(subscriptionProblems.unknownOrganisation, "orgAlias", "is not registered with the marketplace");
  }
  if (found.kind === "SANDBOX") {
    throw invalidField(subscriptionProblems.sandboxOrganisation, "orgAlias", "is a sandbox organisation");
  }
  return found.id;
}

/** Otherwise cancelling and subscribing again would bypass the limit on changes, and what is charged as one would have no end. */
export async function requireCreationAllowed(
  transaction: Transaction<DB>,
  organisationId: string,
  appId: string,
  now: Date,
): Promise<void> {
  const since = new Date(now.getTime() - dayMs);
  const createdAt = await findNthCreation(transaction, { organisationId, appId, nth: maxCreationsPerDay, since });
  if (createdAt === undefined) return;
  throw rateLimitProblem(
    subscriptionProblems.createdTooOften,
    `The organisation has subscribed to this app ${maxCreationsPerDay} times within a day.`,
    { limit: maxCreationsPerDay, retryAfterMs: createdAt.getTime() - since.getTime() },
  );
}

function blockDetail(id: string, reason: BlockReason): string {
  const lifters = rolesForCommandInState({ status: "cancelled", block: reason }, { do: "lift-block" }).join(" or ");
  return `Subscription ${id} was cancelled while it was paused for ${reason}. A caller with the role ${lifters} lifts the block with POST /subscriptions/${id}/lift-block.`;
}

export async function insertSubscriptionOrThrow(transaction: Transaction<DB>, row: NewSubscription) {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const inserted = await insertSubscription(transaction, row);
    if (inserted !== undefined) return inserted;
    const other = await findConflictingSubscription(transaction, row.organisation_id, row.app_id);
    if (other?.status === "cancelled") {
      throw new Problem(subscriptionProblems.blocked, blockDetail(other.id, other.block_reason as BlockReason));
    }
    if (other !== undefined) {
      throw new Problem(subscriptionProblems.alreadySubscribed, `Subscription ${other.id} is ${other.status}.`);
    }
    // The conflicting subscription was cancelled meanwhile, or a concurrent one has used the trial: retry.
  }
  throw new Problem(
    subscriptionProblems.alreadySubscribed,
    "The organisation's subscription is being changed by other requests.",
  );
}
