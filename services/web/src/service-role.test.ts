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
  "can't create anything in the schema of the sessions": [
    "create table web.planted (id int)",
    "create view web.planted as select 1",
    "create function web.planted() returns int language sql return 1",
  ],
  "can't change the table of the sessions": [
    "truncate web.sessions",
    "drop table web.sessions",
    "alter table web.sessions add column planted text",
    "alter table web.sessions drop constraint sessions_cookie_hash_check",
    "create index planted on web.sessions (subject)",
    "create trigger planted before insert on web.sessions for each row execute function suppress_redundant_updates_trigger()",
    "grant select on web.sessions to public; drop table web.sessions",
  ],
  "can't give a session to another user or browser, nor prolong it": [
    "update web.sessions set id = gen_random_uuid()",
    "update web.sessions set cookie_hash = sha256('planted')",
    "update web.sessions set issuer = 'planted'",
    "update web.sessions set subject = 'planted'",
    "update web.sessions set provider_session = 'planted'",
    "update web.sessions set created_at = now()",
  ],
};

describe("the web's database role", () => {
  const cleanUp = cleanUpAfter();
  let database: ServiceDatabase;
  before(async () => {
    database = await cloneDatabase(cleanUp, "web");
  });

  for (const [promise, statements] of Object.entries(escalations)) {
    test(promise, () => assertPermissionDenied(database.serviceUrl, statements));
  }

  test("has rights on the sessions and the list of migrations, and on no other table but the queue's", async () => {
    const { rows } = await withClient(database.ownerUrl, (client) =>
      client.query<{ name: string }>(`
        select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast', 'pgboss')
          and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
          and (has_any_column_privilege('web_service', c.oid, 'select, insert, update')
            or has_table_privilege('web_service', c.oid, 'delete, truncate'))
        order by 1`),
    );
    assert.deepEqual(
      rows.map(({ name }) => name),
      ["public.schema_migrations", "web.sessions"],
    );
  });

  test("can run with the owner's rights only functions with a safe search path that no other role can call", async () => {
    assert.deepEqual(await findUnsafeFunctions(database), []);
  });

  test("is the only role besides the owner that can connect", async () => {
    const { rows } = await withClient(database.ownerUrl, (client) =>
      client.query(`select has_database_privilege('public', current_database(), 'connect') as anyone,
        has_database_privilege('marketplace_service', current_database(), 'connect') as marketplace,
        has_database_privilege('ehr_service', current_database(), 'connect') as ehr,
        has_database_privilege('web_service', current_database(), 'connect') as service`),
    );
    assert.deepEqual(rows, [{ anyone: false, marketplace: false, ehr: false, service: true }]);
  });
});
