import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { Logger } from "../telemetry/logger.ts";
import type { Tracing } from "../telemetry/tracing.ts";

export interface DatabaseOptions {
  url: string;
  service: string;
  poolSize: number;
  statementTimeoutMs: number;
  logger: Logger;
  tracing: Tracing;
}

export interface Database<Schema> {
  query: Kysely<Schema>;
  pool: pg.Pool;
}

const waitForConnectionMs = 2_000;

export function connectDatabase<Schema>(options: DatabaseOptions): Database<Schema> {
  const { statementTimeoutMs, logger, tracing } = options;
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.service,
    max: options.poolSize,
    connectionTimeoutMillis: waitForConnectionMs,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    // The server's own time-out comes first; this one ends waiting on a connection that died without a word.
    query_timeout: statementTimeoutMs + 1_000,
    keepAlive: true,
  });
  // A connection that breaks while in use fails its query and emits an error as well; unheard, that ends the process.
  pool.on("connect", (client) => client.on("error", () => undefined));
  // The same for a connection that breaks while idle.
  pool.on("error", (error) => logger.warn({ err: error }, "an idle database connection broke; the pool replaces it"));
  const query = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool }),
    log: (event) => tracing.recordQuery(event.query.sql, event.queryDurationMillis, event.level === "error"),
  });
  return { query, pool };
}
