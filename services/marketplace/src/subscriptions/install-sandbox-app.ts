import type { EventApp, SubscriptionState } from "@ehr-marketplace/contracts";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { VendorContext } from "../access/vendor-context.ts";
import { type NewAuditEntry, recordAudits } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { nextInstant } from "../events/event.ts";
import { recordEvent } from "../events/record-event.ts";
import { isChangeAllowed, requireChangeAllowed } from "./change-subscription.ts";
import { insertSubscriptionOrThrow, requireCreationAllowed } from "./create-subscription.ts";
import { subscriptionProblems } from "./subscription-errors.ts";
import { auditedState, subscriptionState } from "./subscription-record.ts";
import {
  getSandboxApp,
  insertScopeAgreement,
  type LockedOfBatch,
  lockLiveOfSandboxApp,
  updateAgreedScopes,
} from "./subscription-store.ts";

export interface Installation {
  by: VendorContext;
  /** The sandbox app's id. */
  appId: string;
  organisation: { id: string; alias: string };
  now: Date;
}

export interface InstalledSubscription {
  created: boolean;
  state: SubscriptionState;
}

type SandboxApp = Awaited<ReturnType<typeof getSandboxApp>>;
type Row = LockedOfBatch["row"];

/**
 * Subscribes a sandbox organisation to a sandbox app, if it isn't yet. Every subscription to the app gets the app as it is now, with its
 * scopes, which the vendor's developer agrees to; those of other organisations that have changed too often get it with a later
 * installation. The caller has locked the listing, so no other installation of the app is in progress.
 */
export async function installSandboxApp(
  transaction: Transaction<DB>,
  queue: Queue,
  installation: Installation,
): Promise<InstalledSubscription> {
  const sandboxApp = await getSandboxApp(transaction, installation.appId);
  const live = await lockLiveOfSandboxApp(transaction, installation.appId);
  const target = live.find(({ row }) => row.organisation_id === installation.organisation.id);
  if (target?.row.status === "paused") {
    const detail = `Subscription ${target.row.id} is paused for ${target.row.pause_reason}.`;
    throw new Problem(subscriptionProblems.sandboxPaused, detail);
  }
  const audits: NewAuditEntry[] = [];
  const created = target === undefined ? await create(transaction, queue, installation, sandboxApp) : undefined;
  if (created !== undefined) audits.push(toAudit(installation, null, created));
  let updatedTarget = target?.row;
  for (const { row } of live) {
    if (row.sandbox_revision === sandboxApp.revision) continue;
    if (row.id === target?.row.id) await requireChangeAllowed(transaction, installation.by, { row }, installation.now);
    else if (!(await isChangeAllowed(transaction, installation.by, row, installation.now))) continue;
    const updated = await update(transaction, queue, installation, sandboxApp, row);
    if (row.id === updatedTarget?.id) updatedTarget = updated;
    audits.push(toAudit(installation, row, updated));
  }
  await recordAudits(transaction, audits);
  const installed = created ?? updatedTarget;
  if (installed === undefined) throw new Error("nothing was installed");
  return { created: created !== undefined, state: subscriptionState(installed) };
}

async function create(
  transaction: Transaction<DB>,
  queue: Queue,
  { by, organisation, now }: Installation,
  { app, vendorId, planId, revision }: SandboxApp,
): Promise<Row> {
  if (by.role !== "operator") await requireCreationAllowed(transaction, organisation.id, app.id, now);
  const inserted = await insertSubscriptionOrThrow(transaction, {
    id: uuid(),
    organisation_id: organisation.id,
    app_id: app.id,
    pricing_plan_id: planId,
    quantity: null,
    fhir_scopes: app.fhirScopes,
    sandbox_revision: revision,
    status: "active",
    trial_end: null,
    created_at: now,
    updated_at: now,
    revision: 1,
  });
  const row = { ...inserted, org_alias: organisation.alias, ...agreedTo(app) };
  await insertAgreement(transaction, by, row);
  await recordEvent(transaction, queue, eventOf("subscription.created", row, app, vendorId));
  return row;
}

async function update(
  transaction: Transaction<DB>,
  queue: Queue,
  { by, now }: Installation,
  { app, vendorId, revision }: SandboxApp,
  row: Row,
): Promise<Row> {
  const changes = {
    fhir_scopes: app.fhirScopes,
    sandbox_revision: revision,
    updated_at: nextInstant(now, row.updated_at),
    revision: row.revision + 1,
  };
  const updated = { ...row, ...changes, ...agreedTo(app) };
  await insertAgreement(transaction, by, updated);
  await updateAgreedScopes(transaction, row.id, changes);
  await recordEvent(transaction, queue, eventOf("subscription.updated", updated, app, vendorId));
  return updated;
}

const agreedTo = ({ slug, fhirScopes }: EventApp) => ({
  app_slug: slug,
  app_fhir_scopes: fhirScopes,
  scopes: { inForce: fhirScopes, missing: "" },
});

/** Each installation is an agreement to the draft's scopes, also if they are the same as before. */
async function insertAgreement(transaction: Transaction<DB>, { caller, role }: VendorContext, row: Row): Promise<void> {
  await insertScopeAgreement(transaction, {
    subscription_id: row.id,
    revision: row.revision,
    fhir_scopes: row.fhir_scopes,
    issuer: caller.issuer,
    subject: caller.subject,
    role,
    agreed_at: row.updated_at,
  });
}

const eventOf = (
  event: "subscription.created" | "subscription.updated",
  row: Row,
  app: EventApp,
  vendorId: string,
) => ({
  event,
  app,
  subscription: { id: row.id, status: row.status as "active" | "paused", orgAlias: row.org_alias },
  pauseReason: null,
  organisationId: row.organisation_id,
  vendorId,
  sequence: row.revision,
  occurredAt: row.updated_at,
});

const toAudit = ({ by }: Installation, before: Row | null, after: Row): NewAuditEntry => ({
  by,
  role: by.role,
  at: after.updated_at,
  onBehalfOf: after.org_alias,
  action: "subscription.install-draft",
  target: { kind: "subscription", id: after.id },
  before: before === null ? null : auditedState(before),
  after: auditedState(after),
});
