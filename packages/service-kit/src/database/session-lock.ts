import { type Kysely, sql } from "kysely";

/**
 * Runs `work` on one connection that has an advisory lock of the session, over all processes. Returns false without running it if
 * another session has the lock. If the process dies, PostgreSQL releases the lock with the connection.
 */
export function withSessionLock<Schema>(
  database: Kysely<Schema>,
  name: string,
  work: (connection: Kysely<Schema>) => Promise<void>,
): Promise<boolean> {
  return database.connection().execute(async (connection) => {
    const key = sql`hashtextextended(${name}, 0)`;
    const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_lock(${key}) as locked`.execute(connection);
    if (rows[0]?.locked !== true) return false;
    try {
      await work(connection);
    } finally {
      await sql`select pg_advisory_unlock(${key})`.execute(connection);
    }
    return true;
  });
}
