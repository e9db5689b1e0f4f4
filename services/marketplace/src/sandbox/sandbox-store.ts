import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";

export interface DraftInstallation {
  listingId: string;
  organisationId: string;
  at: Date;
  iconUrl: string;
  /** Used the first time. */
  newAppId: string;
  newPlanId: string;
}

/** Returns the id of the sandbox app. The function checks again that the organisation is a sandbox of the listing's vendor. */
export async function installDraft(transaction: Transaction<DB>, given: DraftInstallation): Promise<string> {
  const { rows } = await sql<{ id: string }>`select install_draft(
    ${given.listingId}::uuid, ${given.organisationId}::uuid, ${given.at}::timestamptz, ${given.iconUrl}, ${given.newAppId}::uuid,
    ${given.newPlanId}::uuid
  ) as id`.execute(transaction);
  const [row] = rows;
  if (row === undefined) throw new Error("install_draft() has returned nothing");
  return row.id;
}

/** A sandbox app whose draft isn't deleted, as JSON, with its vendor and the organisations that have a live subscription to it. */
export async function findSandboxApp(
  database: Kysely<DB>,
  slug: string,
): Promise<{ dto: string; vendor: string; organisations: string[] } | undefined> {
  const { rows } = await sql<{ dto: string; vendor: string; organisations: string[] }>`
    select dto::text as dto, vendor_slug as vendor, array(
      select alias from organisations join subscriptions on subscriptions.organisation_id = organisations.id
      where subscriptions.app_id = sandbox_apps.app_id and subscriptions.status in ('active', 'paused')
    ) as organisations
    from sandbox_apps where slug = ${slug} and exists (
      select from apps join listings on listings.app_id = apps.sandbox_of where apps.id = sandbox_apps.app_id
    )`.execute(database);
  return rows[0];
}

/** Serialises the first installations of a vendor's drafts, so that their number is bounded. */
export async function lockInstalledDrafts(transaction: Transaction<DB>, vendorId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`installed drafts of ${vendorId}`}, 0))`.execute(
    transaction,
  );
}

/** The listings of a vendor whose drafts are installed in a sandbox organisation. */
export async function findInstalledDrafts(database: Kysely<DB>, vendorId: string): Promise<string[]> {
  const { rows } = await sql<{ listing: string }>`
    select sandbox_of as listing from apps
    where vendor_id = ${vendorId} and sandbox_of is not null and exists (
      select from subscriptions where app_id = apps.id and status in ('active', 'paused')
    )`.execute(database);
  return rows.map(({ listing }) => listing);
}

/** The newest subscription of a sandbox organisation to the draft of a listing. */
export async function findInstallation(
  database: Kysely<DB>,
  { listingId, organisationId }: { listingId: string; organisationId: string },
): Promise<string | undefined> {
  const found = await database
    .selectFrom("subscriptions")
    .innerJoin("apps", "apps.id", "subscriptions.app_id")
    .select("subscriptions.id")
    .where("apps.sandbox_of", "=", listingId)
    .where("subscriptions.organisation_id", "=", organisationId)
    .orderBy("subscriptions.created_at", "desc")
    .orderBy("subscriptions.id", "desc")
    .limit(1)
    .executeTakeFirst();
  return found?.id;
}

export async function findListingOf(database: Kysely<DB>, sandboxAppId: string): Promise<string | null> {
  const { sandbox_of } = await database
    .selectFrom("apps")
    .select("sandbox_of")
    .where("id", "=", sandboxAppId)
    .executeTakeFirstOrThrow();
  return sandbox_of;
}
