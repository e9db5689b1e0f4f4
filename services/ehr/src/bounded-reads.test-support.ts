import { type CleanUp, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { collectPlans, explainStatements } from "@ehr-marketplace/tests/support/executed-plans";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import type { DB } from "./database-schema.ts";

export interface Loaded {
  connected: ServiceConnection<DB>;
  plans: ReturnType<typeof collectPlans>;
  /** Runs a statement as the owner, outside the recorded plans. */
  run: <T extends object>(sql: string, ...values: unknown[]) => Promise<T[]>;
}

/** The practice under test, created before all others and with the same data. */
export const practice = "practice-0";
const practices = 1_000;
const apps = 1_000;
const each = 100;
/** Rows of each table that the scheduled jobs delete. */
export const outdated = 5_000;

/** Unconfirmed for the other practices that subscribed to it. */
export const awaitedApp = "app-7";
/** The nth app of a practice: each practice has a hundred of the thousand. */
export const appOf = (practiceNth: number, nth: number): string => `app-${(practiceNth * 37 + nth) % apps}`;
export const subscriptionId = (practiceNth: number, nth: number): string =>
  `01890a5d-ac96-774b-bcce-${String(practiceNth * 1_000 + nth).padStart(12, "0")}`;

const tables = [
  "clients",
  "client_metadata",
  "installations",
  "subscriptions",
  "applied_deliveries",
  "launch_contexts",
  "apps",
  "organisations",
];

/**
 * A database with 100,000 installations, launch contexts, applied deliveries, launches and audit entries, and wrong statistics: `stale` ones
 * were taken when one practice had all rows and none was live; `empty` ones when the tables were nearly empty, and the connection has
 * planned every use case then.
 */
export async function startLoaded(
  cleanUp: CleanUp,
  statistics: "stale" | "empty",
  useOnce: (unloaded: Loaded) => Promise<void>,
): Promise<Loaded> {
  const { ownerUrl, serviceUrl } = await cloneDatabase(cleanUp, "ehr");
  const run = <T extends object>(sql: string, ...values: unknown[]): Promise<T[]> =>
    withClient(ownerUrl, async (client) => {
      // Loads without checking foreign keys, which would take a third of the time.
      await client.query("set session_replication_role = replica");
      return (await client.query<T>(sql, values)).rows;
    });
  for (const table of tables) await run(`alter table ${table} set (autovacuum_enabled = false)`);
  await run("select prepare_launch_partitions(current_date), prepare_audit_partitions(current_date)");
  await run(insertOrganisations, 0, 1);
  await run(insertApps, 0, each);
  if (statistics === "stale") {
    for (const insert of [insertContexts, insertDeliveries]) await run(insert, 0, 1, 10_000, "1 hour");
    for (const insert of [insertLaunches, insertAudit]) await run(insert, 0, 1, 10_000);
    await run(insertSubscriptions, 0, 1, each, "cancelled");
  }
  await run(`analyze ${tables.join(", ")}, launches, audit_entries`);
  await explainStatements({ ownerUrl, serviceUrl });
  const connected = await connectAsService<DB>(cleanUp, serviceUrl, { poolSize: 1, statementTimeoutMs: 60_000 });
  const given = { connected, plans: collectPlans(connected.pool), run };
  if (statistics === "empty") {
    await run(insertSubscriptions, 0, 1, 10, "active");
    await run(insertContexts, 0, 1, 10, "5 minutes");
    await useOnce(given);
  }

  await run("truncate launch_contexts, applied_deliveries, installations, differences, subscriptions, clients");
  await run(insertOrganisations, 1, practices);
  await run(insertApps, each, apps);
  await run(insertSubscriptions, 0, practices, each, "active");
  await run(insertClients);
  await run(insertContexts, 0, practices, each, "5 minutes");
  await run(insertDeliveries, 0, practices, each, "1 hour");
  for (const insert of [insertLaunches, insertAudit]) await run(insert, 0, practices, each);
  await outdate(run);
  return given;
}

/** Makes some rows old enough to be deleted or fetched again. */
async function outdate(run: Loaded["run"]): Promise<void> {
  const change = (table: string, set: string): Promise<object[]> =>
    run(
      `update ${table} set ${set}
       where ctid = any(array(select ctid from ${table} where org_alias <> $1 order by random() limit $2))`,
      practice,
      outdated,
    );
  await change("launch_contexts", "expires_at = now() - interval '1 minute'");
  await change("applied_deliveries", "applied_at = now() - interval '60 days'");
  await change("installations", "status = 'removed', removed_at = now() - interval '60 days'");
  await run("update apps set fetched_at = now() - interval '2 hours' where slug like '%5'");
  await run(
    "update subscriptions set confirmed_at = null where app_slug = $1 and org_alias <> $2",
    awaitedApp,
    practice,
  );
}

const insertOrganisations = `
  insert into organisations (alias, encrypted_secret, created_at, updated_at)
  select 'practice-' || n, '1.unread', now(), now() from generate_series($1::int, $2::int - 1) n`;

const insertApps = `
  insert into apps (slug, id, name, icon_url, category, extension_points, smart_launch_url, fhir_scopes, schema_known,
    fetched_at, updated_at)
  select 'app-' || n, mint_uuid(), 'App ' || n, 'https://a.example/icon.svg', 'DOCUMENTATION', '{}',
    'https://a.example/launch', '', true, now(), now()
  from generate_series($1::int, $2::int - 1) n`;

/** Inserts installations too, which are removed for cancelled subscriptions. */
const insertSubscriptions = `
  with made as (
    insert into subscriptions (org_alias, id, app_slug, status, as_of, confirmed_at)
    select 'practice-' || practice, ('01890a5d-ac96-774b-bcce-' || lpad((practice * 1000 + n)::text, 12, '0'))::uuid,
      'app-' || (practice * 37 + n) % ${apps}, $4::text, now() - interval '1 hour', now()
    from generate_series($1::int, $2::int - 1) practice, generate_series(0, $3::int - 1) n
    returning *
  )
  insert into installations (id, org_alias, app_slug, status, subscription_id, installed_at, updated_at, removed_at)
  select mint_uuid(), org_alias, app_slug, case $4 when 'cancelled' then 'removed' else 'active' end, id, now(), now(),
    case $4 when 'cancelled' then now() end
  from made`;

/** One for each installation, registered and reported. */
const insertClients = `
  with made as (
    insert into clients (id, app_slug, org_alias, method, status, client_id, registered_sha256, version, created_at, updated_at)
    select id, app_slug, org_alias, 'manual', 'ready', 'client of ' || id, repeat('a', 64), id, now(), now() from installations
    returning *
  )
  update installations set reported_version = made.version from made where made.id = installations.id`;

const insertContexts = `
  insert into launch_contexts (launch_hash, launch_id, org_alias, app_slug, user_subject, patient_id, expires_at)
  select sha256(('launch ' || (practice * $3 + n))::bytea), mint_uuid(), 'practice-' || practice,
    'app-' || (practice * 37 + n) % ${apps}, 'a-user', 'p1', now() + $4::interval
  from generate_series($1::int, $2::int - 1) practice, generate_series(0, $3::int - 1) n`;

const insertDeliveries = `
  insert into applied_deliveries (org_alias, delivery_id, applied_at)
  select 'practice-' || practice, 'delivery ' || n, now() - $4::interval
  from generate_series($1::int, $2::int - 1) practice, generate_series(0, $3::int - 1) n`;

const insertLaunches = `
  insert into launches (id, org_alias, app_slug, launch_type, user_issuer, user_subject, patient_id, launched_at)
  select mint_uuid(), 'practice-' || practice, 'app-' || (practice * 37 + n) % ${apps}, 'smart', 'https://id.example', 'a-user', 'p1', now()
  from generate_series($1::int, $2::int - 1) practice, generate_series(0, $3::int - 1) n`;

const insertAudit = `
  insert into audit_entries (id, at, actor_issuer, actor_subject, actor_role, on_behalf_of, action, target_kind, target_id, request_id)
  select mint_uuid(), now(), 'https://id.example', 'a-service', 'ehr-service', 'practice-' || practice, 'launch-context.redeem', 'app',
    'app-' || n, 'a-request'
  from generate_series($1::int, $2::int - 1) practice, generate_series(0, $3::int - 1) n`;
