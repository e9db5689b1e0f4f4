import type { EventApp, PricingPlanDto } from "@ehr-marketplace/contracts";
import { executeDeferred, executePrepared } from "@ehr-marketplace/service-kit/database";
import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from "kysely";
import type { Apps, BaaAgreements, DB, ScopeAgreements, Subscriptions } from "../database-schema.ts";
import { type AgreedScopes, withAgreedScopes } from "./agreed-scopes.ts";

/** A subscription with the organisation's alias, the app's slug and current scopes, and the plan. */
export type SubscriptionRow = Selectable<Subscriptions> & {
  org_alias: string;
  app_slug: string;
  app_fhir_scopes: string;
  scopes: AgreedScopes;
  pricing_plan: PricingPlanDto;
};

const appScopes = "apps.fhir_scopes as app_fhir_scopes" as const;
const pricingPlan = sql<PricingPlanDto>`plan_records.dto`.as("pricing_plan");

const withNames = (database: Kysely<DB>) =>
  database
    .selectFrom("subscriptions")
    .innerJoin("organisations", "organisations.id", "subscriptions.organisation_id")
    .innerJoin("apps", "apps.id", "subscriptions.app_id")
    .innerJoin("plan_records", "plan_records.id", "subscriptions.pricing_plan_id")
    .selectAll("subscriptions")
    .select(["organisations.alias as org_alias", "apps.slug as app_slug", appScopes, pricingPlan]);

/** `id` must be a UUID as PostgreSQL accepts it. The `uuid` format of JSON Schema also accepts urn:uuid:…, which PostgreSQL rejects. */
export async function findSubscription(database: Kysely<DB>, id: string) {
  const rows = await withNames(database)
    .innerJoin("vendors", "vendors.id", "apps.vendor_id")
    .select("vendors.slug as vendor_slug")
    .where("subscriptions.id", "=", id)
    .execute();
  return (await withAgreedScopes(rows))[0];
}

export interface LockedSubscription {
  row: SubscriptionRow;
  app: EventApp;
  vendorId: string;
  vendorSlug: string;
}

/** Locks the row until the transaction ends. */
export async function lockSubscription(
  transaction: Transaction<DB>,
  id: string,
): Promise<LockedSubscription | undefined> {
  const statement = withNames(transaction)
    .innerJoin("vendors", "vendors.id", "apps.vendor_id")
    .select(appColumns)
    .select(["apps.vendor_id", "vendors.slug as vendor_slug"])
    .where("subscriptions.id", "=", id)
    .forUpdate("subscriptions");
  const [found] = await withAgreedScopes((await executePrepared(transaction, "lock-subscription", statement)).rows);
  return found && { row: found, app: eventAppOf(found), vendorId: found.vendor_id, vendorSlug: found.vendor_slug };
}

const appColumns = [
  "apps.name",
  "apps.icon_url",
  "apps.category",
  "apps.extension_points",
  "apps.smart_launch_url",
] as const;
type AppColumns = Pick<Selectable<Apps>, "name" | "icon_url" | "category" | "extension_points" | "smart_launch_url">;

/** The app's current data, whether or not it is published, with the scopes that the organisation has agreed to. */
const eventAppOf = (row: AppColumns & Pick<SubscriptionRow, "app_id" | "app_slug" | "scopes">): EventApp => ({
  id: row.app_id,
  slug: row.app_slug,
  name: row.name,
  iconUrl: row.icon_url,
  category: row.category,
  extensionPoints: row.extension_points,
  smartLaunchUrl: row.smart_launch_url,
  fhirScopes: row.scopes.inForce,
});

export interface NewSubscription extends Omit<Insertable<Subscriptions>, "trial_ends_at"> {
  /** End of the trial, if the organisation is entitled to one: it has had no trial of this app. */
  trial_end: Date | null;
}

/** Returns undefined if the organisation has a live or blocking subscription, or if a concurrent request has used its trial. */
export async function insertSubscription(
  transaction: Transaction<DB>,
  given: NewSubscription,
): Promise<Selectable<Subscriptions> | undefined> {
  const { trial_end, ...row } = given;
  const trial =
    trial_end === null
      ? null
      : sql<Date | null>`case when not exists (
          select from subscriptions where organisation_id = ${row.organisation_id} and app_id = ${row.app_id}
            and trial_ends_at is not null
        ) then ${trial_end}::timestamptz end`;
  return transaction
    .insertInto("subscriptions")
    .values({ ...row, trial_ends_at: trial })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** Creation time of the organisation's nth newest subscription to the app, if it is after `since`. */
export async function findNthCreation(
  database: Kysely<DB>,
  { organisationId, appId, nth, since }: { organisationId: string; appId: string; nth: number; since: Date },
): Promise<Date | undefined> {
  const found = await database
    .selectFrom("subscriptions")
    .select("created_at")
    .where("organisation_id", "=", organisationId)
    .where("app_id", "=", appId)
    .where("created_at", ">", since)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .offset(nth - 1)
    .limit(1)
    .executeTakeFirst();
  return found?.created_at;
}

/** The one that the organisation had of the app before this one. */
export async function findPreviousSubscription(
  database: Kysely<DB>,
  { id, organisationId, appId, currency }: { id: string; organisationId: string; appId: string; currency: string },
): Promise<{ id: string; cancelledAt: Date } | undefined> {
  const { rows } = await sql<{ id: string; cancelledAt: Date }>`
    select id, cancelled_at as "cancelledAt" from subscriptions
    where organisation_id = ${organisationId} and app_id = ${appId} and id <> ${id} and cancelled_at is not null
      and (select dto ->> 'currency' from plan_records where plan_records.id = pricing_plan_id) = ${currency}
    order by created_at desc, id desc limit 1`.execute(database);
  return rows[0];
}

/** The live or blocking subscription that prevents a new one. */
export function findConflictingSubscription(database: Kysely<DB>, organisationId: string, appId: string) {
  return database
    .selectFrom("subscriptions")
    .select(["id", "status", "block_reason"])
    .where("organisation_id", "=", organisationId)
    .where("app_id", "=", appId)
    .where((where) => where.or([where("status", "<>", "cancelled"), where("block_reason", "is not", null)]))
    .executeTakeFirst();
}

type ChangeableColumn =
  | "status"
  | "pause_reason"
  | "paused_at"
  | "block_reason"
  | "cancelled_at"
  | "updated_at"
  | "revision"
  | "suspension_id";
/** All that a command can change. */
export type SubscriptionChanges = Required<Pick<Updateable<Subscriptions>, ChangeableColumn>>;

export async function updateSubscription(
  transaction: Transaction<DB>,
  id: string,
  changes: SubscriptionChanges,
): Promise<void> {
  const statement = transaction.updateTable("subscriptions").set(changes).where("id", "=", id);
  await executeDeferred(transaction, "update-subscription", statement);
}

/** Whether an operator has suspended the app, or a suspension still pauses its subscriptions. */
export async function isAppSuspended(database: Kysely<DB>, appId: string): Promise<boolean> {
  const { rows } = await sql<{ suspended: boolean }>`
    select exists (select from listings where app_id = ${appId} and suspended_at is not null)
      -- Literals, so that the planner can match the partial index.
      or exists (select from suspensions where app_id = ${appId} and state <> 'ended' and state in ('pausing', 'paused'))
      as suspended`.execute(database);
  return rows[0]?.suspended ?? false;
}

export async function countActive(database: Kysely<DB>, appId: string): Promise<number> {
  const found = await database
    .selectFrom("subscriptions")
    .select(sql<number>`count(*)::int`.as("count"))
    .where("app_id", "=", appId)
    .where("status", "=", "active")
    .executeTakeFirstOrThrow();
  return found.count;
}

export async function countPausedBy(database: Kysely<DB>, suspensionId: string): Promise<number> {
  const found = await database
    .selectFrom("subscriptions")
    .select(sql<number>`count(*)::int`.as("count"))
    .where("suspension_id", "=", suspensionId)
    .executeTakeFirstOrThrow();
  return found.count;
}

/** Where a batch ended. */
export interface BatchCursor {
  id: string;
  created_at: Date;
}

/** The app's next active subscriptions, newest first. */
export function findActive(
  database: Kysely<DB>,
  appId: string,
  { after, limit }: { after: BatchCursor | undefined; limit: number },
): Promise<BatchCursor[]> {
  let query = database
    .selectFrom("subscriptions")
    .select(["id", "created_at"])
    .where("app_id", "=", appId)
    .where("status", "=", "active");
  if (after !== undefined) {
    query = query.where(sql<boolean>`(created_at, id) < (${after.created_at}::timestamptz, ${after.id}::uuid)`);
  }
  return query.orderBy("created_at", "desc").orderBy("id", "desc").limit(limit).execute();
}

const firstId = "00000000-0000-0000-0000-000000000000";

/**
 * The next subscriptions that the suspension has paused, in the order of their ids. In the order of its index, and filtered afterwards: the
 * planner could otherwise read the primary key, where those of the suspension may all be at the end.
 */
export async function findPausedBy(
  database: Kysely<DB>,
  suspensionId: string,
  { after, limit }: { after: BatchCursor | undefined; limit: number },
): Promise<BatchCursor[]> {
  const { rows } = await sql<BatchCursor>`
    select id, created_at from (
      select id, created_at, suspension_id from subscriptions
      where suspension_id is not null
        and (suspension_id, id) > (${suspensionId}::uuid, ${after?.id ?? firstId}::uuid)
      order by suspension_id, id limit ${limit}
    ) next
    where suspension_id = ${suspensionId}
    order by id`.execute(database);
  return rows;
}

export interface LockedOfBatch {
  row: Omit<SubscriptionRow, "pricing_plan">;
  app: EventApp;
  vendorId: string;
}

/** Locks the rows in the order of their ids, as all who lock several, until the transaction ends. */
export async function lockBatch(transaction: Transaction<DB>, ids: string[]): Promise<LockedOfBatch[]> {
  const rows = await transaction
    .selectFrom("subscriptions")
    .innerJoin("organisations", "organisations.id", "subscriptions.organisation_id")
    .innerJoin("apps", "apps.id", "subscriptions.app_id")
    .selectAll("subscriptions")
    .select(["organisations.alias as org_alias", "apps.slug as app_slug", appScopes])
    .select(appColumns)
    .select("apps.vendor_id")
    .where("subscriptions.id", "=", sql<string>`any (${ids}::uuid[])`)
    .orderBy("subscriptions.id")
    .forUpdate("subscriptions")
    .execute();
  return (await withAgreedScopes(rows)).map((row) => ({ row, app: eventAppOf(row), vendorId: row.vendor_id }));
}

/** At most one for each sandbox organisation of a vendor. */
export async function lockLiveOfSandboxApp(transaction: Transaction<DB>, appId: string): Promise<LockedOfBatch[]> {
  const live = await transaction
    .selectFrom("subscriptions")
    .select("id")
    .where("app_id", "=", appId)
    .where("status", "in", ["active", "paused"])
    .execute();
  const locked = await lockBatch(
    transaction,
    live.map(({ id }) => id),
  );
  // One that was cancelled before it was locked.
  return locked.filter(({ row }) => row.status !== "cancelled");
}

/** A sandbox app with its plan, and its revision. */
export async function getSandboxApp(
  database: Kysely<DB>,
  appId: string,
): Promise<{ app: EventApp; vendorId: string; planId: string; revision: number }> {
  const { vendorId, planId, revision, ...app } = await database
    .selectFrom("apps")
    .innerJoin("plan_records", "plan_records.app_id", "apps.id")
    .select([
      "apps.id",
      "apps.slug",
      "apps.name",
      "apps.icon_url as iconUrl",
      "apps.category",
      "apps.extension_points as extensionPoints",
      "apps.smart_launch_url as smartLaunchUrl",
      "apps.fhir_scopes as fhirScopes",
      "apps.vendor_id as vendorId",
      sql<string>`plan_records.id`.as("planId"),
      sql<number>`apps.sandbox_revision`.as("revision"),
    ])
    .where("apps.id", "=", appId)
    .executeTakeFirstOrThrow();
  return { app, vendorId, planId, revision };
}

/** Changes many rows, each of which must be locked. */
export async function updateBatch(
  transaction: Transaction<DB>,
  changes: (SubscriptionChanges & { id: string })[],
): Promise<void> {
  const statement = sql`
    update subscriptions set status = changed.status, pause_reason = changed.pause_reason, paused_at = changed.paused_at,
      block_reason = changed.block_reason, cancelled_at = changed.cancelled_at, updated_at = changed.updated_at,
      revision = changed.revision, suspension_id = changed.suspension_id
    from json_to_recordset(${JSON.stringify(changes)}::json) as changed(id uuid, status text, pause_reason text,
      paused_at timestamptz, block_reason text, cancelled_at timestamptz, updated_at timestamptz, revision integer,
      suspension_id uuid)
    where subscriptions.id = changed.id`;
  await executeDeferred(transaction, "update-subscriptions", statement);
}

export async function insertScopeAgreement(
  transaction: Transaction<DB>,
  { subscription_id, revision, fhir_scopes, issuer, subject, role, agreed_at }: Required<Insertable<ScopeAgreements>>,
): Promise<void> {
  // Always the same columns in the same order: a prepared statement has one text.
  const row = { subscription_id, revision, fhir_scopes, issuer, subject, role, agreed_at };
  const statement = transaction.insertInto("scope_agreements").values(row);
  await executeDeferred(transaction, "insert-scope-agreement", statement);
}

export async function insertBaaAgreement(
  transaction: Transaction<DB>,
  agreement: Insertable<BaaAgreements>,
): Promise<void> {
  await transaction.insertInto("baa_agreements").values(agreement).execute();
}

/** The database accepts this only after the agreement for the new revision is inserted. */
export async function updateAgreedScopes(
  transaction: Transaction<DB>,
  id: string,
  changes: { fhir_scopes: string; sandbox_revision?: number; updated_at: Date; revision: number },
): Promise<void> {
  await transaction.updateTable("subscriptions").set(changes).where("id", "=", id).execute();
}

export async function updateTerms(
  transaction: Transaction<DB>,
  id: string,
  changes: Required<
    Pick<
      Updateable<Subscriptions>,
      "pricing_plan_id" | "quantity" | "interval_amount" | "trial_ends_at" | "updated_at" | "revision"
    >
  >,
): Promise<void> {
  await transaction.updateTable("subscriptions").set(changes).where("id", "=", id).execute();
}

export interface SubscriptionFilter {
  alias: string;
  status: string | undefined;
  after: { created_at: Date; id: string } | undefined;
  limit: number;
  withApp: boolean;
}

export type ListedSubscription = SubscriptionRow & { expanded?: { app: EventApp; isOffered: boolean } };

/** Drafts in sandboxes have not left the catalog: they were never there. */
const expandedOf = (row: Parameters<typeof eventAppOf>[0] & { app_status: string }) => ({
  app: eventAppOf(row),
  isOffered: row.app_status !== "withdrawn",
});

/** A subquery, because a separate round trip would take longer than the rest of the query. */
const organisationIdOf = (alias: string) => sql<string>`(select id from organisations where alias = ${alias})`;

export async function findSubscriptions(
  database: Kysely<DB>,
  { alias, status, after, limit, withApp }: SubscriptionFilter,
): Promise<ListedSubscription[]> {
  let query = database
    .selectFrom("subscriptions")
    .innerJoin("apps", "apps.id", "subscriptions.app_id")
    .innerJoin("plan_records", "plan_records.id", "subscriptions.pricing_plan_id")
    .selectAll("subscriptions")
    .select(["apps.slug as app_slug", appScopes, pricingPlan])
    .$if(withApp, (selection) => selection.select(appColumns).select("apps.status as app_status"))
    .where("organisation_id", "=", organisationIdOf(alias));
  if (status !== undefined) query = query.where("subscriptions.status", "=", status);
  if (after !== undefined) {
    query = query.where(
      sql<boolean>`(subscriptions.created_at, subscriptions.id) < (${after.created_at}::timestamptz, ${after.id}::uuid)`,
    );
  }
  const rows = await query
    .orderBy("subscriptions.created_at", "desc")
    .orderBy("subscriptions.id", "desc")
    .limit(limit)
    .execute();
  return (await withAgreedScopes(rows)).map((row) => ({
    ...row,
    org_alias: alias,
    ...(withApp ? { expanded: expandedOf(row as typeof row & AppColumns & { app_status: string }) } : {}),
  }));
}

export function findCursor(database: Kysely<DB>, alias: string, id: string) {
  return database
    .selectFrom("subscriptions")
    .select(["id", "created_at"])
    .where("id", "=", id)
    .where("organisation_id", "=", organisationIdOf(alias))
    .executeTakeFirst();
}
