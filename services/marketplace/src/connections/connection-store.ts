import type { ConnectionState } from "@ehr-marketplace/contracts";
import type { ClientDraft } from "@ehr-marketplace/listing-rules";
import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { maxChangesPerHour } from "./connection.ts";

export interface StoredConnection {
  state: ConnectionState;
  updatedAt: Date;
  /** The oldest of the last 30 changes; null if there were fewer. */
  limitingChange: Date | null;
}

export async function findConnection(
  database: Kysely<DB>,
  subscriptionId: string,
): Promise<StoredConnection | undefined> {
  const row = await database
    .selectFrom("connections")
    .select([
      "status",
      "client_id",
      "fhir_base_url",
      "reason",
      "updated_at",
      sql<Date | null>`case when cardinality(changed_at) >= ${sql.lit(maxChangesPerHour)} then changed_at[1] end`.as(
        "limiting_change",
      ),
    ])
    .where("subscription_id", "=", subscriptionId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { client_id: clientId, fhir_base_url: fhirBaseUrl, reason, updated_at: updatedAt } = row;
  const status = row.status as ConnectionState["status"];
  return { state: { status, clientId, fhirBaseUrl, reason }, updatedAt, limitingChange: row.limiting_change };
}

/** The caller has locked the subscription's row. */
export async function upsertConnection(
  transaction: Transaction<DB>,
  subscriptionId: string,
  { status, clientId, fhirBaseUrl, reason }: ConnectionState,
  at: Date,
): Promise<void> {
  await sql`
    insert into connections as stored (subscription_id, status, client_id, fhir_base_url, reason, updated_at, changed_at)
    values (${subscriptionId}, ${status}, ${clientId}, ${fhirBaseUrl}, ${reason}, ${at}, array[${at}::timestamptz])
    on conflict (subscription_id) do update set
      status = excluded.status, client_id = excluded.client_id, fhir_base_url = excluded.fhir_base_url,
      reason = excluded.reason, updated_at = excluded.updated_at,
      changed_at = case
        when cardinality(stored.changed_at) >= ${sql.lit(maxChangesPerHour)} then stored.changed_at[2:]
        else stored.changed_at
      end || excluded.updated_at`.execute(transaction);
}

export interface ClientRow {
  appId: string;
  draft: ClientDraft;
  iconUrl: string;
  isSuspendedForSecurity: boolean;
}

/** What the client of an app that was ever published is made of, whether or not the catalog has the app now. */
export async function findPublishedClient(database: Kysely<DB>, slug: string): Promise<ClientRow | undefined> {
  const { rows } = await sql<ClientRow>`
    select listing.app_id as "appId", app.icon_url as "iconUrl",
      json_strip_nulls(row_to_json(given)) as draft,
      listing.suspended_at is not null and exists (
        select from suspensions
        -- A literal, so that the planner can match the partial index.
        where suspensions.app_id = listing.app_id and state <> 'ended' and state in ('pausing', 'paused')
      ) as "isSuspendedForSecurity"
    from listings listing
    join revisions revision on revision.app_id = listing.app_id and revision.number = listing.published_revision
    join apps app on app.id = listing.app_id
    -- Once for all fields: each operator -> would parse the whole draft, which may have 256 KiB.
    cross join lateral json_to_record(revision.draft) as given(name json, version json, audience json, "fhirScopes" json,
      oauth json, "websiteUrl" json, "privacyPolicyUrl" json, "termsUrl" json)
    where listing.slug = ${slug}`.execute(database);
  return rows[0];
}

export async function findSandboxClient(
  database: Kysely<DB>,
  slug: string,
): Promise<Omit<ClientRow, "isSuspendedForSecurity"> | undefined> {
  const { rows } = await sql<Omit<ClientRow, "isSuspendedForSecurity">>`
    select app_id as "appId", icon_url as "iconUrl", draft from sandbox_clients where slug = ${slug}`.execute(database);
  return rows[0];
}
