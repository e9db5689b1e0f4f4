import { executePrepared } from "@ehr-marketplace/service-kit/database";
import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";
import type { LaunchType } from "./launch.ts";

export interface NewLaunch {
  id: string;
  orgAlias: string;
  appSlug: string;
  /** Undefined: `smart` for an app with a launch URL, else `native`. */
  launchType: LaunchType | undefined;
  user: { issuer: string; subject: string };
  patientId: string | undefined;
  encounterId: string | undefined;
  launchedAt: Date;
  launchHash: Buffer;
  expiresAt: Date;
}

export interface Launched {
  launch_type: LaunchType;
  /** null for an app without a launch URL. */
  launch_url: string | null;
  subscription_id: string;
}

/**
 * Inserts all launches or none. The result is undefined for a launch that the app doesn't allow. One statement checks the installations and
 * writes the launches, so that no launch succeeds after a pause. The lateral join looks up each installation by its key, whatever the
 * planner's statistics are.
 */
export async function insertLaunches(database: Kysely<DB>, launches: NewLaunch[]): Promise<(Launched | undefined)[]> {
  const each = <T>(value: (launch: NewLaunch) => T): T[] => launches.map(value);
  const statement = sql<Launched & { id: string }>`
    with requested as (
      select * from unnest(
        ${each(({ orgAlias }) => orgAlias)}::text[], ${each(({ appSlug }) => appSlug)}::text[],
        ${each(({ launchType }) => launchType)}::text[], ${each(({ id }) => id)}::uuid[],
        ${each(({ user }) => user.issuer)}::text[], ${each(({ user }) => user.subject)}::text[],
        ${each(({ patientId }) => patientId)}::text[], ${each(({ encounterId }) => encounterId)}::text[],
        ${each(({ launchedAt }) => launchedAt)}::timestamptz[], ${each(({ launchHash }) => launchHash)}::bytea[],
        ${each(({ expiresAt }) => expiresAt)}::timestamptz[]
      ) as given (
        org_alias, app_slug, requested_type, id, user_issuer, user_subject, patient_id, encounter_id, launched_at,
        launch_hash, expires_at
      )
    ), launched as (
      select requested.*, launch_url, subscription_id,
        coalesce(requested_type, case when launch_url is null then 'native' else 'smart' end) as launch_type
      from requested cross join lateral (
        select smart_launch_url as launch_url, subscription_id
        from installations join apps on slug = installations.app_slug
        where installations.org_alias = requested.org_alias and installations.app_slug = requested.app_slug
          and status = 'active'
        limit 1
      ) installed
      where requested_type is null or requested_type = 'native' or launch_url is not null
    ), logged as (
      insert into launches
        (id, org_alias, app_slug, launch_type, user_issuer, user_subject, patient_id, encounter_id, launched_at)
      select id, org_alias, app_slug, launch_type, user_issuer, user_subject, patient_id, encounter_id, launched_at
      from launched
    ), context as (
      insert into launch_contexts
        (launch_hash, launch_id, org_alias, app_slug, user_subject, patient_id, encounter_id, expires_at)
      select launch_hash, id, org_alias, app_slug, user_subject, patient_id, encounter_id, expires_at
      from launched where launch_type = 'smart'
    )
    select id, launch_type, launch_url, subscription_id from launched`;
  const { rows } = await executePrepared(database, "insert-launches", statement);
  const launched = new Map(rows.map((row) => [row.id, row]));
  return launches.map(({ id }) => launched.get(id));
}

/** The state that explains a refused launch. */
export function findStatus(database: Kysely<DB>, orgAlias: string, appSlug: string) {
  return database
    .selectFrom("installations")
    .innerJoin("apps", "apps.slug", "installations.app_slug")
    .select(["installations.status", "apps.smart_launch_url"])
    .where("installations.org_alias", "=", orgAlias)
    .where("installations.app_slug", "=", appSlug)
    .executeTakeFirst();
}
