import type { Prepared } from "@ehr-marketplace/service-kit/database";
import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";

export interface ContextRow {
  patient_id: string | null;
  encounter_id: string | null;
}

/** Whoever takes a context ends it, whether or not it is theirs: of those who come at once, one finds it. */
const takeStatement = `
with taken as (delete from launch_contexts where launch_hash = $1 returning *)
select patient_id, encounter_id from taken
where org_alias = $2 and app_slug = $3 and user_subject = $4 and expires_at > $5
  and exists (
    select from installations
    where installations.org_alias = taken.org_alias and installations.app_slug = taken.app_slug and status = 'active'
  )`;

export async function takeContext(
  prepared: Prepared,
  taken: { launchHash: Buffer; orgAlias: string; appSlug: string; user: string; now: Date },
): Promise<ContextRow | undefined> {
  const { launchHash, orgAlias, appSlug, user, now } = taken;
  const [row] = await prepared<ContextRow>("take_context", takeStatement, [launchHash, orgAlias, appSlug, user, now]);
  return row;
}

export async function deleteExpired(database: Kysely<DB>, now: Date, most: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from launch_contexts where launch_hash in (
      select launch_hash from launch_contexts where expires_at <= ${now} order by expires_at limit ${most}
    )`.execute(database);
  return Number(numAffectedRows);
}
