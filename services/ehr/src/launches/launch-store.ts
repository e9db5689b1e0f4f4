import type { Prepared } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import type { LaunchType } from "./launch.ts";

export interface NewLaunch {
  id: string;
  orgAlias: string;
  appSlug: string;
  /** Left to the app where nobody asked for one. */
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
  /** null for an app that has none. */
  launch_url: string | null;
}

/**
 * One round trip, and one moment: what the installations are like now decides, so that no launch slips past a pause. Each is looked
 * up by itself, whatever the planner thinks of a million installations.
 */
const launchStatement = `
with asked as (
  select * from unnest(
    $1::text[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::timestamptz[],
    $10::bytea[], $11::timestamptz[]
  ) as given (
    org_alias, app_slug, asked_type, id, user_issuer, user_subject, patient_id, encounter_id, launched_at, launch_hash,
    expires_at
  )
), launched as (
  select asked.*, launch_url, coalesce(asked_type, case when launch_url is null then 'native' else 'smart' end) as launch_type
  from asked cross join lateral (
    select smart_launch_url as launch_url
    from installations join apps on slug = installations.app_slug
    where installations.org_alias = asked.org_alias and installations.app_slug = asked.app_slug and status = 'active'
    limit 1
  ) installed
  where asked_type is null or asked_type = 'native' or launch_url is not null
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
select id, launch_type, launch_url from launched`;

/** All or none; for each of them nothing where the app can't be launched in that way. */
export async function insertLaunches(prepared: Prepared, launches: NewLaunch[]): Promise<(Launched | undefined)[]> {
  const each = <T>(value: (launch: NewLaunch) => T): T[] => launches.map(value);
  const rows = await prepared<Launched & { id: string }>("launch", launchStatement, [
    each(({ orgAlias }) => orgAlias),
    each(({ appSlug }) => appSlug),
    each(({ launchType }) => launchType),
    each(({ id }) => id),
    each(({ user }) => user.issuer),
    each(({ user }) => user.subject),
    each(({ patientId }) => patientId),
    each(({ encounterId }) => encounterId),
    each(({ launchedAt }) => launchedAt),
    each(({ launchHash }) => launchHash),
    each(({ expiresAt }) => expiresAt),
  ]);
  const launched = new Map(rows.map((row) => [row.id, row]));
  return launches.map(({ id }) => launched.get(id));
}

/** What keeps an app from being launched, where the launch itself found something. */
export function findStatus(database: Kysely<DB>, orgAlias: string, appSlug: string) {
  return database
    .selectFrom("installations")
    .innerJoin("apps", "apps.slug", "installations.app_slug")
    .select(["installations.status", "apps.smart_launch_url"])
    .where("installations.org_alias", "=", orgAlias)
    .where("installations.app_slug", "=", appSlug)
    .executeTakeFirst();
}
