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
  /** null for an app that has none, or one that no browser should be sent to. */
  launch_url: string | null;
}

/** One round trip, and one moment: what the installation is like now decides, so that no launch slips past a pause. */
const launchStatement = `
with installed as (
  select org_alias, app_slug, case when smart_launch_url ~* '^https?://' then smart_launch_url end as launch_url
  from installations join apps on slug = app_slug
  where org_alias = $1 and app_slug = $2 and status = 'active'
), launched as (
  select installed.*, coalesce($3::text, case when launch_url is null then 'native' else 'smart' end) as launch_type
  from installed where $3::text is null or $3::text = 'native' or launch_url is not null
), logged as (
  insert into launches
    (id, org_alias, app_slug, launch_type, user_issuer, user_subject, patient_id, encounter_id, launched_at)
  select $4::uuid, org_alias, app_slug, launch_type, $5::text, $6::text, $7::uuid, $8::uuid, $9::timestamptz from launched
), context as (
  insert into launch_contexts
    (launch_hash, launch_id, org_alias, app_slug, user_subject, patient_id, encounter_id, expires_at)
  select $10::bytea, $4::uuid, org_alias, app_slug, $6::text, $7::uuid, $8::uuid, $11::timestamptz
  from launched where launch_type = 'smart'
)
select launch_type, launch_url from launched`;

/** Nothing where the app can't be launched in that way. */
export async function insertLaunch(prepared: Prepared, launch: NewLaunch): Promise<Launched | undefined> {
  const [launched] = await prepared<Launched>("launch", launchStatement, [
    launch.orgAlias,
    launch.appSlug,
    launch.launchType,
    launch.id,
    launch.user.issuer,
    launch.user.subject,
    launch.patientId,
    launch.encounterId,
    launch.launchedAt,
    launch.launchHash,
    launch.expiresAt,
  ]);
  return launched;
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
