import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";

export interface UnreportedInstallation {
  id: string;
  orgAlias: string;
  subscriptionId: string;
}

/** The installations that a version of the client wasn't reported for, by alias. */
export async function findUnreported(
  database: Kysely<DB>,
  { appSlug, orgAlias, version }: { appSlug: string; orgAlias: string | null; version: string },
  after: string,
  limit: number,
  until?: string,
): Promise<UnreportedInstallation[]> {
  const { rows } = await sql<UnreportedInstallation>`
    select id, org_alias as "orgAlias", subscription_id as "subscriptionId" from installations
    where app_slug = ${appSlug} ${orgAlias === null ? sql`` : sql`and org_alias = ${orgAlias}`} and org_alias > ${after}
      ${until === undefined ? sql`` : sql`and org_alias <= ${until}`} and status <> 'removed' and reported_version is distinct from ${version}::uuid
    order by org_alias limit ${sql.lit(limit)}`.execute(database);
  return rows;
}

/**
 * Marks installations as reported. If the client has another version meanwhile, the reports of both may have arrived in any order, so that
 * they count as not reported; then the result is false.
 */
export async function markReported(
  database: Kysely<DB>,
  { clientId, version }: { clientId: string; version: string },
  installations: UnreportedInstallation[],
): Promise<boolean> {
  const { rows } = await sql<{ current: boolean }>`
    with current as (
      select exists (select from clients where id = ${clientId} and version = ${version}::uuid) as is_current
    ), marked as (
      update installations set reported_version = case when is_current then ${version}::uuid end
      from current, unnest(${installations.map(({ id }) => id)}::uuid[],
        ${installations.map(({ subscriptionId }) => subscriptionId)}::uuid[]) as given (id, subscription_id)
      where installations.id = given.id and installations.subscription_id = given.subscription_id
    )
    select is_current as current from current`.execute(database);
  return rows[0]?.current === true;
}
