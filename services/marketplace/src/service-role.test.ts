import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, type ServiceDatabase, withClient } from "@ehr-marketplace/test-kit";
import {
  assertPermissionDenied,
  commonEscalations,
  type Escalations,
  findUnsafeFunctions,
} from "@ehr-marketplace/tests/support/service-role";

const escalations: Escalations = {
  ...commonEscalations,
  "changes and deletes no audit entry": [
    "update audit_entries set actor_subject = 'somebody else'",
    "delete from audit_entries",
    "truncate audit_entries",
    "drop table audit_entries",
    "alter table audit_entries disable trigger all",
    "drop trigger audit_entries_reject_changes on audit_entries",
    "create or replace function audit_entries_reject_changes() returns trigger language plpgsql as 'begin return null; end'",
    "grant update on audit_entries to public; update audit_entries set actor_subject = 'somebody else'",
  ],
  "changes and deletes no event": [
    "update events set payload = '{}'",
    "delete from events",
    "truncate events cascade",
    "alter table events alter column payload drop not null",
  ],
  "changes no price and no listing": [
    "update pricing_plans set amount = 0",
    "update pricing_plans set published_at = null",
    "delete from pricing_plans",
    "insert into pricing_plans (id) values (gen_random_uuid())",
    "alter table pricing_plans disable trigger pricing_plans_reject_changes",
    "update apps set name = 'planted'",
    "update app_listings set featured = true",
    "update categories set name = 'planted'",
    "select refresh_listings('{}')",
    "update app_search set words = ''",
    "delete from search_words",
  ],
  "renames no vendor and no listing, gives no listing to another vendor, and deletes none": [
    "update vendors set slug = 'planted'",
    "delete from vendors",
    "alter table vendors disable trigger all",
    "update listings set slug = 'planted'",
    "update listings set vendor_id = gen_random_uuid()",
    "delete from listings",
  ],
  "moves no subscription to another organisation or app, rewrites no past terms, and deletes none": [
    "update ended_terms set quantity = 1",
    "insert into ended_terms select id, now(), pricing_plan_id, 1 from subscriptions",
    "delete from ended_terms",
    "insert into ended_pauses select id, now(), now() from subscriptions",
    "insert into active_periods select id, now() - interval '1 day', now(), pricing_plan_id, 1 from subscriptions",
    "update active_periods set quantity = 1",
    "delete from active_periods",
    "update undone_increases set from_at = to_at - interval '1 hour'",
    "delete from undone_increases",
    "update subscriptions set active_since = now()",
    "update subscriptions set organisation_id = gen_random_uuid()",
    "delete from subscriptions",
    "alter table subscriptions disable trigger all",
  ],
  "rewrites no past commission, and nothing of a record of usage but its void": [
    "update ended_commissions set commission_percent = 0",
    "insert into ended_commissions select id, now(), 0 from vendors",
    "delete from ended_commissions",
    "update usage_records set quantity = 0",
    "update usage_records set is_trial = true",
    "update usage_hours set is_trial = true",
    "update usage_days set plan_id = gen_random_uuid()",
    "update usage_records set caller_subject = 'somebody else'",
    "delete from usage_records",
  ],
  "changes and deletes no agreement to scopes or to a BAA": [
    "update scope_agreements set fhir_scopes = 'system/*.cruds'",
    "delete from scope_agreements",
    "truncate scope_agreements",
    "alter table scope_agreements drop constraint scope_agreements_have_events",
    "update baa_agreements set subject = 'somebody else'",
    "delete from baa_agreements",
    "update apps set baa_document_sha256 = null",
  ],
  "moves and deletes no connection": [
    "update connections set subscription_id = gen_random_uuid()",
    "delete from connections",
    "truncate connections",
    "update apps set sandbox_oauth = null",
    "drop trigger listings_notify_client_changed on listings",
  ],
  "moves and deletes no discovery of hooks": [
    "update cds_discoveries set app_id = gen_random_uuid()",
    "delete from cds_discoveries",
    "truncate cds_discoveries",
    "alter table cds_discoveries drop constraint cds_discoveries_hooks_check",
    "create or replace function are_hook_names(names text[]) returns boolean language sql immutable return true",
  ],
  "deletes no listing, and no slug that EHRs know": [
    "delete from listings",
    "update media set app_id = null",
    "delete from deleted_drafts",
    "insert into deleted_drafts values (gen_random_uuid(), 'planted', now())",
    "create or replace function delete_draft(uuid, timestamptz) returns void language sql return null",
  ],
  "moves and deletes no suspension": [
    "update suspensions set app_id = null",
    "delete from suspensions",
    "insert into suspensions (id, state) values (gen_random_uuid(), 'ended')",
  ],
  "makes no app a sandbox app, no organisation a sandbox, and takes no such mark": [
    "update apps set sandbox_of = null",
    "update apps set sandbox_revision = 2",
    "insert into apps (id, sandbox_of) values (gen_random_uuid(), gen_random_uuid())",
    "update organisations set kind = 'SANDBOX'",
    "update organisations set vendor_id = gen_random_uuid()",
    "update events set sandbox = true",
    "insert into listings (app_id, sandbox_launched_at) values (gen_random_uuid(), now())",
    "create or replace function install_draft(uuid, uuid, timestamptz, text, uuid, uuid) returns uuid language sql return $1",
    "drop trigger subscriptions_reject_mixed_kinds on subscriptions",
  ],
  "renames and deletes no organisation": [
    "update organisations set alias = 'planted'",
    "delete from organisations",
    "delete from recipients",
    "update recipients set kind = 'endpoint'",
  ],
  "removes nothing from the delivery log, and changes no request that it has": [
    "delete from delivery_attempts",
    "truncate delivery_attempts",
    "drop table delivery_attempts",
    "update delivery_attempts set url = 'https://elsewhere.example'",
    "update delivery_attempts set started_at = now()",
    "do $$ begin execute 'drop table delivery_attempts_' || to_char(now() at time zone 'UTC', 'YYYYMMDD'); end $$",
    "do $$ begin execute 'delete from delivery_attempts_' || to_char(now() at time zone 'UTC', 'YYYYMMDD'); end $$",
    "do $$ begin execute 'truncate delivery_attempts_' || to_char(now() at time zone 'UTC', 'YYYYMMDD'); end $$",
    "do $$ begin execute 'alter table delivery_attempts detach partition delivery_attempts_' || to_char(now() at time zone 'UTC', 'YYYYMMDD'); end $$",
    "update delivery_log_retention set least_days = 1",
    "insert into delivery_log_retention values (true, 1) on conflict (only_row) do update set least_days = 1",
    "delete from delivery_log_retention",
    "alter function drop_attempt_partition(date, integer) set lock_timeout = 0",
  ],
};

describe("the marketplace's database role", () => {
  const cleanUp = cleanUpAfter();
  let database: ServiceDatabase;
  before(async () => {
    database = await cloneDatabase(cleanUp, "demo");
  });

  for (const [promise, statements] of Object.entries(escalations)) {
    test(promise, () => assertPermissionDenied(database.serviceUrl, statements));
  }

  test("can use the owner's rights only through functions with a safe search path that only it may call", async () => {
    assert.deepEqual(await findUnsafeFunctions(database), []);
  });

  test("is the only role besides the owner that may connect", async () => {
    const { rows } = await withClient(database.ownerUrl, (client) =>
      client.query(`select has_database_privilege('public', current_database(), 'connect') as anyone,
        has_database_privilege('ehr_service', current_database(), 'connect') as other_service,
        has_database_privilege('marketplace_service', current_database(), 'connect') as service`),
    );
    assert.deepEqual(rows, [{ anyone: false, other_service: false, service: true }]);
  });

  test("runs no code as the owner through a temporary table, where an administrator allows it temporary tables", async () => {
    const shadowed = await cloneDatabase(cleanUp, "demo");
    const asOwner = (statement: string): Promise<{ rows: unknown[] }> =>
      withClient(shadowed.ownerUrl, (client) => client.query(statement));
    await asOwner(`do $$ begin
      execute format('grant temporary on database %I to marketplace_service', current_database()); end $$`);
    await withClient(shadowed.serviceUrl, async (client) => {
      await client.query(`create function pg_temp.plant() returns text language plpgsql as $$
        begin execute 'create table public.planted ()'; return ''; end $$`);
      await client.query(`create temporary table recipients (
        id uuid, kind text, status text, held_since timestamptz, planted text default pg_temp.plant())`);
      await client.query(`insert into webhook_endpoints (id, vendor_id, url, events, encrypted_secret, created_at, updated_at)
        select gen_random_uuid(), id, 'https://vendor.example', '{ping}', '1.aa', now(), now() from vendors limit 1`);
      await client.query(`insert into organisations (id, alias, display_name, encrypted_secret, created_at, updated_at)
        values (gen_random_uuid(), 'planted', 'Planted', '1.aa', now(), now())`);
      await client.query("create temporary table delivery_log_retention as select true as only_row, 1 as least_days");
      await client.query("create temporary table delivery_attempts (like public.delivery_attempts)");
      await client.query("select prepare_attempt_partitions('2031-01-01')");
    });
    const found = await asOwner(`select to_regclass('public.planted') as planted,
      (select count(*)::integer from recipients where id in (select id from webhook_endpoints)) as endpoints,
      (select count(*)::integer from recipients join organisations using (id) where alias = 'planted') as organisations,
      to_regclass('public.delivery_attempts_20310101') is not null as partition`);
    assert.deepEqual(found.rows, [{ planted: null, endpoints: 1, organisations: 1, partition: true }]);
  });
});

describe("partitions of the delivery log", () => {
  const cleanUp = cleanUpAfter();
  const day = "(now() at time zone 'UTC')::date";
  const call = (url: string, date: string, keptDays: string): Promise<string> =>
    withClient(url, (client) =>
      client.query<{ dropped: boolean }>(`select drop_attempt_partition(${date}, ${keptDays}) as dropped`).then(
        ({ rows }) => `${rows[0]?.dropped}`,
        (error: Error) => error.message,
      ),
    );
  const agesIn = (ownerUrl: string): Promise<number[]> =>
    withClient(ownerUrl, async (client) => {
      const { rows } = await client.query<{ age: number }>(`
        select ${day} - to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD') as age
        from pg_inherits where inhparent = 'delivery_attempts'::regclass order by 1`);
      return rows.map(({ age }) => age);
    });
  const withDays = async (...ages: number[]): Promise<ServiceDatabase> => {
    const database = await cloneDatabase(cleanUp);
    await withClient(database.ownerUrl, async (client) => {
      for (const age of ages) await client.query(`select prepare_attempt_partitions(${day} - ${age})`);
    });
    return database;
  };

  test("are kept for at least 90 days, whatever the service passes", async () => {
    const { ownerUrl, serviceUrl } = await withDays(90);
    const kept = await agesIn(ownerUrl);
    for (const [date, keptDays] of [
      [day, "100"],
      [`${day} - 1`, "0"],
      [`${day} - 89`, "1"],
      [`${day} - 90`, "1"],
      [`${day} - 90`, "-2147483648"],
      [`${day} - 90`, "null"],
      [`to_date(${day} || ' BC', 'YYYY-MM-DD BC')`, "90"],
      [`to_date(${day} - 90 || ' BC', 'YYYY-MM-DD BC')`, "1"],
      ["'-infinity'", "1"],
      ["'infinity'", "1"],
      [`${day} - 100`, "2147483647"],
    ] as const) {
      assert.match(await call(serviceUrl, date, keptDays), /is not old enough|out of range/, `${date}, ${keptDays}`);
    }
    assert.deepEqual(await agesIn(ownerUrl), kept);
  });

  test("are dropped when they are older than that, and than the configured retention", async () => {
    const { ownerUrl, serviceUrl } = await withDays(100);
    assert.match(await call(serviceUrl, `${day} - 100`, "100"), /is not old enough/);
    assert.equal(await call(serviceUrl, `${day} - 101`, "100"), "true");
    assert.ok(!(await agesIn(ownerUrl)).includes(101));
  });

  test("are dropped earlier only if the owner lowers the minimum", async () => {
    const { ownerUrl, serviceUrl } = await withDays(10);
    await withClient(ownerUrl, (client) => client.query("update delivery_log_retention set least_days = 5"));
    assert.equal(await call(serviceUrl, `${day} - 6`, "1"), "true");
    assert.match(await call(serviceUrl, `${day} - 5`, "1"), /is not old enough/);
  });

  test("are created only for days with unambiguous partition names", async () => {
    const { serviceUrl } = await withDays();
    for (const date of ["2026-08-20 BC", "0001-01-01", "12026-08-20", "infinity"]) {
      await withClient(serviceUrl, (client) =>
        assert.rejects(client.query("select prepare_attempt_partitions($1::date)", [date]), /is not a day of this log/),
      );
    }
  });
});
