import { parseArgs } from "node:util";
import pg from "pg";
import { ConfigurationError } from "../config/read-environment.ts";
import { readMigrationConfig } from "../config/service-environment.ts";
import { type MigrationOptions, migrationsTable } from "./migrate.ts";

const usage = `Applies the service's missing migrations, and installs its queue. Needs MIGRATION_DATABASE_URL.

  --queue  also upgrade the queue's schema, after which processes of earlier versions can't start any more
  --help   print this text`;

/**
 * The migration command of `service`. `migrate` returns the names of the migrations that it applied. The queue's schema is upgraded only on
 * demand: pg-boss starts with no other version than its own, so upgrading it ends the time in which older processes may restart.
 */
export async function runMigration(
  service: string,
  migrate: (ownerUrl: string, options: MigrationOptions) => Promise<string[]>,
): Promise<void> {
  try {
    const options = { queue: { type: "boolean", default: false }, help: { type: "boolean", default: false } } as const;
    const { values } = parseArgs({ options });
    if (values.help) return console.log(usage);
    const { databaseUrl } = readMigrationConfig(process.env, service);
    await requireOwner(databaseUrl);
    const applied = await migrate(databaseUrl, { upgradesQueue: values.queue, report: (line) => console.log(line) });
    console.log(applied.length === 0 ? "The schema is up to date." : `Applied: ${applied.join(", ")}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

async function requireOwner(databaseUrl: string): Promise<void> {
  const client = new pg.Client(databaseUrl);
  try {
    await client.connect();
  } catch (error) {
    // If the host name has several addresses, the error has a code and no message.
    const { message, code } = error as NodeJS.ErrnoException;
    throw new ConfigurationError(`MIGRATION_DATABASE_URL: failed to connect to the database: ${message || code}`);
  }
  try {
    const { rows } = await client.query<{ login: string; owner: string | null; is_owner: boolean }>(
      `select current_user as login, pg_get_userbyid(relowner) as owner,
         coalesce(pg_has_role(relowner, 'usage'), has_schema_privilege('public', 'create')) as is_owner
       from (select) as one left join pg_class on oid = to_regclass($1)`,
      [migrationsTable],
    );
    const [{ login, owner, is_owner: isOwner } = { login: "", owner: null, is_owner: true }] = rows;
    if (isOwner) return;
    throw new ConfigurationError(
      owner === null
        ? `MIGRATION_DATABASE_URL: its login ${login} may not create tables; set it to the login that owns the database`
        : `MIGRATION_DATABASE_URL: its login ${login} doesn't own the tables; set it to the login of their owner, ${owner}`,
    );
  } finally {
    await client.end();
  }
}
