import pg from "pg";

/**
 * Restricts the database: only the owner and the service's role can connect, and only the owner can create tables. Temporary tables
 * are revoked too, because one shadows a table of the schema wherever search_path doesn't name pg_temp. Neither a dump nor a clone of
 * a template carries database privileges, so the migration step sets them on every run.
 */
export async function restrictDatabase(ownerUrl: string, serviceRole: string): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const { rows: names } = await client.query<{ name: string; login: string }>(
      "select current_database() as name, current_user as login",
    );
    const database = pg.escapeIdentifier(names[0]?.name ?? "");
    const owner = pg.escapeIdentifier(names[0]?.login ?? "");
    const role = pg.escapeIdentifier(serviceRole);
    const statements = [
      `revoke connect, temporary on database ${database} from public;`,
      `revoke temporary on database ${database} from ${role};`,
      `grant connect on database ${database} to ${role}, ${owner};`,
      "revoke create on schema public from public;",
    ];
    await client.query(statements.join("\n"));
    // Without the right to revoke, PostgreSQL only warns.
    const { rows } = await client.query<{ open: boolean }>(
      `select has_database_privilege('public', current_database(), 'connect, temporary')
        or has_schema_privilege('public', 'public', 'create')
        or has_database_privilege($1, current_database(), 'temporary')
        or not has_database_privilege($1, current_database(), 'connect') as open`,
      [serviceRole],
    );
    if (rows[0]?.open === true) {
      throw new Error(
        "The migration step's login doesn't own the database, so it can't restrict who may use it. Run as an administrator, " +
          `connected to the database, and then run this step again:\n${statements.join("\n")}`,
      );
    }
  } finally {
    await client.end();
  }
}
