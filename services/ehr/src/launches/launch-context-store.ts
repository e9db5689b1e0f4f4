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
}

/** Deletes the context, even if the redemption is refused; of concurrent redemptions, one finds the row. */
export async function takeContext(
  transaction: Transaction<DB>,
  { launchHash, orgAlias, appSlug, user, now }: Redemption,
): Promise<TakenContext | undefined> {
  const { rows } = await sql<TakenContext>`
    with taken as (delete from launch_contexts where launch_hash = ${launchHash} returning *),
    decided as (
      select *, org_alias = ${orgAlias} and app_slug = ${appSlug} and user_subject = ${user} and expires_at > ${now}
        and exists (
          select from installations
          where installations.org_alias = taken.org_alias and installations.app_slug = taken.app_slug and status = 'active'
        ) as granted
      from taken
    )
    select launch_id as "launchId", granted as "isGranted", case when granted then patient_id end as "patientId",
      case when granted then encounter_id end as "encounterId"
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
