import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";

export interface Redemption {
  launchHash: Buffer;
  orgAlias: string;
  appSlug: string;
  user: string;
  now: Date;
}

export interface TakenContext {
  launchId: string;
  isGranted: boolean;
  /** Null if the redemption is refused. */
  patientId: string | null;
  encounterId: string | null;
  subscriptionId: string | null;
  /** The app's. */
  fhir_scopes: string | null;
  agreed_scopes: string | null;
}

/** Deletes the context, even if the redemption is refused; of concurrent redemptions, one finds the row. */
export async function takeContext(
  transaction: Transaction<DB>,
  { launchHash, orgAlias, appSlug, user, now }: Redemption,
): Promise<TakenContext | undefined> {
  const { rows } = await sql<TakenContext>`
    with taken as (delete from launch_contexts where launch_hash = ${launchHash} returning *),
    decided as (
      select taken.*, installed.*,
        taken.org_alias = ${orgAlias} and taken.app_slug = ${appSlug} and user_subject = ${user} and expires_at > ${now}
        and installed.subscription_id is not null as granted
      from taken left join lateral (
        select subscription_id, apps.fhir_scopes, subscriptions.fhir_scopes as agreed_scopes
        from installations
        join apps on apps.slug = installations.app_slug
        join subscriptions on subscriptions.org_alias = installations.org_alias
          and subscriptions.id = installations.subscription_id
        where installations.org_alias = taken.org_alias and installations.app_slug = taken.app_slug
          and installations.status = 'active'
        limit 1
      ) installed on true
    )
    select launch_id as "launchId", granted as "isGranted", case when granted then patient_id end as "patientId",
      case when granted then encounter_id end as "encounterId", subscription_id as "subscriptionId", fhir_scopes,
      agreed_scopes
    from decided`.execute(transaction);
  return rows[0];
}

export async function deleteExpiredBatch(database: Kysely<DB>, now: Date, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from launch_contexts where launch_hash = any(array(
      select launch_hash from launch_contexts where expires_at <= ${now} order by expires_at limit ${limit}
    ))`.execute(database);
  return Number(numAffectedRows);
}
