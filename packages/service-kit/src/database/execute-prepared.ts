import type { Kysely, QueryResult, RawBuilder } from "kysely";

/** Kysely passes only a statement's text and its parameters to the connection. The array of parameters is unique to each execution. */
const names = new WeakMap<object, string>();

/**
 * Executes a prepared statement, which each connection parses and plans once under its name. Use it for frequent statements whose best
 * plan is the same for all values, where planning costs more than execution. A name belongs to one text.
 */
export function executePrepared<Row>(
  database: Pick<Kysely<never>, "executeQuery" | "getExecutor">,
  name: string,
  statement: RawBuilder<Row>,
): Promise<QueryResult<Row>> {
  const compiled = statement.compile(database);
  names.set(compiled.parameters, name);
  return database.executeQuery(compiled);
}

export const findPreparedName = (parameters: unknown): string | undefined =>
  Array.isArray(parameters) ? names.get(parameters) : undefined;
