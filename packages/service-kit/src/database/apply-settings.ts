import type pg from "pg";

/**
 * Sets parameters of a session. As start-up parameters they would need no statement, but PgBouncer refuses connections with those that it
 * doesn't know. It resets them before another client gets the session.
 */
export function applySettings(
  client: Pick<pg.ClientBase, "query">,
  settings: Record<string, string | number>,
): Promise<unknown> {
  const calls = Object.keys(settings).map((name, index) => `set_config('${name}', $${index + 1}, false)`);
  return client.query(`select ${calls.join()}`, Object.values(settings).map(String));
}
