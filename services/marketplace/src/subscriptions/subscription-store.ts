import type { EventApp, PricingPlanDto } from "@ehr-marketplace/contracts";
import { executeDeferred, executePrepared } from "@ehr-marketplace/service-kit/database";
import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from "kysely";
import type { Apps, DB, Subscriptions } from "../database-schema.ts";

/** A subscription with the organisation's alias, the app's slug and the plan. */
export type SubscriptionRow = Selectable<Subscriptions> & {
  org_alias: string;
  app_slug: string;
  pricing_plan: PricingPlanDto;
};

const pricingPlan = sql<PricingPlanDto>`plan_records.dto`.as("pricing_plan");

const withNames = (database: Kysely<DB>) =>
  database
    .selectFrom("subscriptions")
    .innerJoin("organisations", "organisations.id", "subscriptions.organisation_id")
    .innerJoin("apps", "apps.id", "subscriptions.app_id")
    .innerJoin("plan_records", "plan_records.id", "subscriptions.pricing_plan_id")
    .selectAll("subscriptions")
    .select(["organisations.alias as org_alias", "apps.slug as app_slug", pricingPlan]);

/** `id` must be a UUID as PostgreSQL accepts it. The `uuid` format of JSON Schema also accepts urn:uuid:…, which PostgreSQL rejects. */
export async function findSubscription(database: Kysely<DB>, id: string) {
  return withNames(database)
    .innerJoin("vendors", "vendors.id", "apps.vendor_id")
    .select("vendors.slug as vendor_slug")
    .where("subscriptions.id", "=", id)
    .executeTakeFirst();
}

export interface LockedSubscription {
  row: SubscriptionRow;
  app: EventApp;
  vendorId: string;
}

/** Locks the row until the transaction ends. */
export async function lockSubscription(
  transaction: Transaction<DB>,
  id: string,
): Promise<LockedSubscription | undefined> {
  const statement = withNames(transaction)
    .select(appColumns)
    .select("apps.vendor_id")
    .where("subscriptions.id", "=", id)
    .forUpdate("subscriptions");
  const [found] = (await executePrepared(transaction, "lock-subscription", statement)).rows;
  return found && { row: found, app: eventAppOf(found), vendorId: found.vendor_id };
}

const appColumns = [
  "apps.name",
  "apps.icon_url",
  "apps.category",
  "apps.extension_points",
  "apps.smart_launch_url",
  "apps.fhir_scopes",
] as const;
type AppColumns = Pick<
  Selectable<Apps>,
  "name" | "icon_url" | "category" | "extension_points" | "smart_launch_url" | "fhir_scopes"
>;

/** The app's current data, whether or not it is published. */
const eventAppOf = (row: AppColumns & { app_id: string; app_slug: string }): EventApp => ({
  id: row.app_id,
  slug: row.app_slug,
  name: row.name,
  iconUrl: row.icon_url,
  category: row.category,
  extensionPoints: row.extension_points,
  smartLaunchUrl: row.smart_launch_url,
  fhirScopes: row.fhir_scopes,
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

/** All that a command can change. */
export type SubscriptionChanges = Required<
  Pick<
    Updateable<Subscriptions>,
    "status" | "pause_reason" | "paused_at" | "block_reason" | "cancelled_at" | "updated_at" | "revision"
  >
>;

export async function updateSubscription(
  transaction: Transaction<DB>,
  id: string,
  changes: SubscriptionChanges,
): Promise<void> {
  const statement = transaction.updateTable("subscriptions").set(changes).where("id", "=", id);
  await executeDeferred(transaction, "update-subscription", statement);
}

export interface SubscriptionFilter {
  alias: string;
  status: string | undefined;
  after: { created_at: Date; id: string } | undefined;
  limit: number;
  withApp: boolean;
}

export type ListedSubscription = SubscriptionRow & { app?: EventApp };

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
    .select(["apps.slug as app_slug", pricingPlan])
    .$if(withApp, (selection) => selection.select(appColumns))
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
  return rows.map((row) => ({
    ...row,
    org_alias: alias,
    ...(withApp ? { app: eventAppOf(row as typeof row & AppColumns) } : {}),
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
