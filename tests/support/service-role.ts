import assert from "node:assert/strict";
import { type ServiceDatabase, withClient } from "@ehr-marketplace/test-kit";

/** Privileges that a service's role must not have, each with the statements that would use them. */
export type Escalations = Record<string, string[]>;

const insufficientPrivilege = "42501";

/** Runs each statement as the service's role and expects insufficient privilege. Any other error is a mistake in the test. */
export async function assertPermissionDenied(serviceUrl: string, statements: string[]): Promise<void> {
  await withClient(serviceUrl, async (client) => {
    for (const statement of statements) {
      const refused = await client.query(statement).then(
        () => "permitted",
        (error: Error & { code?: string }) => (error.code === insufficientPrivilege ? undefined : error.message),
      );
      assert.equal(refused, undefined, statement);
    }
  });
}

/** Escalations that apply to every service: the database, the server, and the schemas of migrations and queue. */
export const commonEscalations: Escalations = {
  "creates no object, not even a temporary one": [
    "create table public.planted (id int)",
    "create table pgboss.planted (id int)",
    "create temporary table planted (id int)",
    "create view public.planted as select 1",
    "create type public.planted as enum ('a')",
    "create schema planted",
    "create function public.planted() returns int language sql return 1",
    "create function pgboss.planted() returns int language sql return 1",
    "create function pg_temp.planted() returns int language sql return 1",
    "create event trigger planted on ddl_command_end execute function planted()",
  ],
  "takes on no other role, and gives itself no right": [
    "set role postgres",
    "set session authorization postgres",
    "grant postgres to current_user",
    "grant pg_write_server_files to current_user",
    "grant pg_read_all_data to current_user",
    "alter role current_user superuser",
    "alter role current_user createrole",
    "alter role postgres password 'known'",
    "create role planted",
    "grant all on schema public to public; create table public.planted (id int)",
    "grant all on schema_migrations to public; delete from schema_migrations",
  ],
  "switches off no trigger": ["set session_replication_role = replica", "set local session_replication_role = 'local'"],
  "reads no password, no file and no setting of the server": [
    "select rolpassword from pg_authid",
    "select passwd from pg_shadow",
    "select pg_read_file('postgresql.conf')",
    "select pg_ls_dir('.')",
    "select lo_import('/etc/passwd')",
    "copy (select 1) to program 'true'",
    "copy (select 1) to '/tmp/planted'",
    "alter system set log_statement = 'none'",
    "select pg_reload_conf()",
  ],
  "changes no record of migrations": [
    "insert into schema_migrations (name, run_on) values ('9999-planted', now())",
    "update schema_migrations set name = 'planted'",
    "delete from schema_migrations",
    "truncate schema_migrations",
  ],
  // The migration step runs the statements in `bam`, and builds statements from `queue.table_name`, with the owner's rights.
  "leaves nothing in the queue's schema that the migration step would run": [
    "insert into pgboss.bam (name, version, status, table_name, command) values ('planted', 1, 'pending', 'job', 'select 1')",
    "update pgboss.bam set command = 'select 1'",
    "update pgboss.queue set table_name = 'planted'",
    "update pgboss.queue set policy = 'short'",
    "update pgboss.queue set partition = true",
    "insert into pgboss.queue select * from pgboss.queue",
    'select pgboss.create_queue(\'__pgboss__send-it\', \'{"policy": "standard", "partition": true}\')',
    "delete from pgboss.queue",
    "update pgboss.version set version = 1",
    "update pgboss.version set bam_on = null",
    "select pgboss.create_queue('planted', '{\"policy\": \"standard\"}')",
    "create or replace function pgboss.job_now() returns timestamptz language sql return now()",
    "drop function pgboss.delete_queue(text)",
    "alter function pgboss.create_queue(text, jsonb) security definer",
    "alter table pgboss.job disable trigger all",
    "truncate pgboss.job",
  ],
};

/** Finds `security definer` functions without a fixed search path, or that the role `public` may execute. */
export async function findUnsafeFunctions({ ownerUrl }: ServiceDatabase): Promise<string[]> {
  return withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ unsafe: string }>(`
      select oid::regprocedure::text as unsafe from pg_proc
      where prosecdef and pronamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
        and (
          not coalesce('search_path=pg_catalog, public, pg_temp' = any (proconfig), false)
          or has_function_privilege('public', oid, 'execute')
        )
      order by 1`);
    return rows.map((row) => row.unsafe);
  });
}

/** The columns of the service that have encrypted values, by their names. */
export async function findEncryptedColumns({ ownerUrl }: Pick<ServiceDatabase, "ownerUrl">): Promise<string[]> {
  const { rows } = await withClient(ownerUrl, (client) =>
    client.query<{ name: string }>(
      `select table_name || '.' || column_name as name from information_schema.columns
       where table_schema = 'public' and column_name like 'encrypted%'`,
    ),
  );
  return rows.map(({ name }) => name).toSorted();
}
