import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";

export interface ContextRow {
  patient_id: string | null;
  encounter_id: string | null;
}

export interface Redemption {
  launchHash: Buffer;
  orgAlias: string;
  appSlug: string;
  user: string;
  now: Date;
  auditId: string;
  actor: { issuer: string; subject: string; role: string; requestId: string };
}

/**
 * A redemption deletes the context, even if it is refused; of concurrent redemptions, one finds the row. The same statement writes the audit
 * entry, granted or refused, so that a redemption is one round trip.
 */
export async function redeemContext(database: Kysely<DB>, redemption: Redemption): Promise<ContextRow | undefined> {
  const { launchHash, orgAlias, appSlug, user, now, auditId, actor } = redemption;
  const { rows } = await sql<ContextRow>`
    with taken as (delete from launch_contexts where launch_hash = ${launchHash} returning *),
    granted as (
      select patient_id, encounter_id from taken
      where org_alias = ${orgAlias} and app_slug = ${appSlug} and user_subject = ${user} and expires_at > ${now}
        and exists (
          select from installations
          where installations.org_alias = taken.org_alias and installations.app_slug = taken.app_slug and status = 'active'
        )
    ), recorded as (
      insert into audit_entries
        (id, at, actor_issuer, actor_subject, actor_role, on_behalf_of, action, target_kind, target_id, request_id, after)
      select ${auditId}, ${now}, ${actor.issuer}, ${actor.subject}, ${actor.role}, ${orgAlias}, 'launch-context.redeem',
        'app', ${appSlug}, ${actor.requestId},
        json_build_object(
          'outcome', case when exists (select from granted) then 'granted' else 'refused' end,
          'launchId', (select launch_id from taken)
        )
    )
    select patient_id, encounter_id from granted`.execute(database);
  return rows[0];
}

export async function deleteExpiredBatch(database: Kysely<DB>, now: Date, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from launch_contexts where launch_hash = any(array(
      select launch_hash from launch_contexts where expires_at <= ${now} order by expires_at limit ${limit}
    ))`.execute(database);
  return Number(numAffectedRows);
}
