import { withClient } from "@ehr-marketplace/test-kit";

const perOrganisation = 4;
const apps = 200;

/** Inserts installations, four per organisation, and returns the number of organisations. */
export async function loadInstallations(ownerUrl: string, count: number): Promise<number> {
  const organisations = Math.ceil(count / perOrganisation);
  await withClient(ownerUrl, async (client) => {
    // A notification per row would fill PostgreSQL's notification queue.
    await client.query("alter table installations disable trigger installations_changed");
    await client.query(
      `insert into organisations (alias, encrypted_secret, created_at, updated_at)
       select 'clinic-' || n, '1.none', now(), now() from generate_series(1, $1) n`,
      [organisations],
    );
    await client.query(
      `insert into apps (slug, id, name, icon_url, category, extension_points, smart_launch_url, fhir_scopes, schema_known,
         fetched_at, updated_at)
       select 'app-' || n, mint_uuid(), 'App ' || n, 'https://cdn.example/' || n || '.svg', 'DOCUMENTATION',
         '{patient-chart-tab,encounter-panel}', 'https://app-' || n || '.example/launch', 'launch openid patient/*.read', true,
         now(), now() from generate_series(0, $1 - 1) n`,
      [apps],
    );
    await client.query(
      `insert into subscriptions (org_alias, id, app_slug, status, as_of, confirmed_at)
       select 'clinic-' || n, mint_uuid(), 'app-' || (n * 7 + nth * 31) % $1, 'active', now(), now()
       from generate_series(1, $2::integer) n cross join generate_series(0, $3::integer - 1) nth`,
      [apps, organisations, perOrganisation],
    );
    await client.query(
      `insert into installations (id, org_alias, app_slug, status, subscription_id, installed_at, updated_at)
       select mint_uuid(), org_alias, app_slug, status, id, as_of, as_of from subscriptions`,
    );
    await client.query("alter table installations enable trigger installations_changed");
    await client.query("vacuum (analyze) organisations, apps, subscriptions, installations");
  });
  return organisations;
}

/** Installs four apps, also `app-1`, for the organisation of the persona `riverside-member`. */
export async function installForMember(ownerUrl: string): Promise<void> {
  await withClient(ownerUrl, (client) =>
    client.query(
      `insert into organisations (alias, encrypted_secret, created_at, updated_at)
       values ('riverside-clinic', '1.none', now(), now());
       insert into subscriptions (org_alias, id, app_slug, status, as_of, confirmed_at)
       select 'riverside-clinic', mint_uuid(), slug, 'active', now(), now() from apps order by slug limit 4;
       insert into installations (id, org_alias, app_slug, status, subscription_id, installed_at, updated_at)
       select mint_uuid(), org_alias, app_slug, status, id, as_of, as_of from subscriptions
       where org_alias = 'riverside-clinic'`,
    ),
  );
}
