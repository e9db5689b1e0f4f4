import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, type ServiceDatabase, withClient } from "@ehr-marketplace/test-kit";
import {
  assertPermissionDenied,
  commonEscalations,
  type Escalations,
  findUnsafeFunctions,
} from "@ehr-marketplace/tests/support/service-role";

const today = "to_char(now() at time zone 'UTC', 'YYYYMMDD')";

const escalations: Escalations = {
  ...commonEscalations,
  "can't change the launch log": [
    "update launches set user_subject = 'somebody else'",
    "delete from launches",
    "truncate launches",
    "drop table launches",
    "alter table launches disable trigger all",
    "drop trigger launches_stay on launches",
    "create or replace function launches_reject_changes() returns trigger language plpgsql as 'begin return null; end'",
    `do $$ begin execute 'drop table launches_' || ${today}; end $$`,
    `do $$ begin execute 'delete from launches_' || ${today}; end $$`,
    `do $$ begin execute 'truncate launches_' || ${today}; end $$`,
    `do $$ begin execute 'alter table launches_' || ${today} || ' disable trigger all'; end $$`,
    `do $$ begin execute 'alter table launches detach partition launches_' || ${today}; end $$`,
  ],
  "can't lower the minimum retention of the launch log": [
    "update launch_log_retention set least_days = 1",
    "insert into launch_log_retention values (true, 1) on conflict (only_row) do update set least_days = 1",
    "delete from launch_log_retention",
    "truncate launch_log_retention",
    "drop table launch_log_retention",
    "alter function drop_oldest_launches(date, integer) set lock_timeout = 0",
  ],
  "can't change the audit log or lower its minimum retention": [
    "update audit_entries set actor_subject = 'somebody else'",
    "delete from audit_entries",
    "truncate audit_entries",
    "drop table audit_entries",
    "alter table audit_entries disable trigger all",
    `do $$ begin execute 'drop table audit_entries_' || ${today}; end $$`,
    `do $$ begin execute 'delete from audit_entries_' || ${today}; end $$`,
    `do $$ begin execute 'truncate audit_entries_' || ${today}; end $$`,
    `do $$ begin execute 'alter table audit_entries_' || ${today} || ' disable trigger all'; end $$`,
    `do $$ begin execute 'alter table audit_entries detach partition audit_entries_' || ${today}; end $$`,
    "update audit_log_retention set least_days = 1",
    "delete from audit_log_retention",
    "truncate audit_log_retention",
    "alter function drop_oldest_audit_entries(date, integer) set lock_timeout = 0",
  ],
  "can't rename or delete organisations": [
    "update organisations set alias = 'planted'",
    "delete from organisations",
    "truncate organisations cascade",
  ],
  "can't give a client to another app or organisation": [
    "update clients set app_slug = 'planted'",
    "update clients set org_alias = 'planted'",
    "truncate clients",
    "delete from client_metadata",
    "update client_metadata set app_slug = 'planted'",
  ],
  "can't change launch contexts and applied deliveries": [
    "update launch_contexts set patient_id = gen_random_uuid()",
    "update launch_contexts set expires_at = 'infinity'",
    "update applied_deliveries set delivery_id = 'planted'",
  ],
};

describe("the EHR service's database role", () => {
  const cleanUp = cleanUpAfter();
  let database: ServiceDatabase;
  before(async () => {
    database = await cloneDatabase(cleanUp, "ehr");
  });

  for (const [promise, statements] of Object.entries(escalations)) {
    test(promise, () => assertPermissionDenied(database.serviceUrl, statements));
  }

  test("can run with the owner's rights only functions with a safe search path that no other role can call", async () => {
    assert.deepEqual(await findUnsafeFunctions(database), []);
  });

  test("is the only role besides the owner that can connect", async () => {
    const { rows } = await withClient(database.ownerUrl, (client) =>
      client.query(`select has_database_privilege('public', current_database(), 'connect') as anyone,
        has_database_privilege('marketplace_service', current_database(), 'connect') as other_service,
        has_database_privilege('ehr_service', current_database(), 'connect') as service`),
    );
    assert.deepEqual(rows, [{ anyone: false, other_service: false, service: true }]);
  });
});
