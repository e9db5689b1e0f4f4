import { once } from "node:events";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { Logger } from "../telemetry/logger.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import { findPreparedName } from "./execute-prepared.ts";

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

const connectionTimeoutMs = 2_000;

/**
 * Passes on the name of a prepared statement (see `executePrepared`), and closes its connection when a query times out: otherwise the
 * pool would keep the connection, and every later statement on it would wait behind the one without a response.
 */
class ClosingOnTimeoutClient extends pg.Client {
  constructor(options?: pg.ClientConfig) {
    super(options);
    const query = this.query.bind(this) as (...parameters: unknown[]) => unknown;
    const queryOrClose = (...parameters: unknown[]): unknown => {
      const [text, values] = parameters;
      const name = findPreparedName(values);
      const result = name === undefined ? query(...parameters) : query({ name, text, values });
      return result instanceof Promise ? result.catch((error: unknown) => this.#closeOnTimeout(error)) : result;
    };
    this.query = queryOrClose as typeof this.query;
  }

  /** Rejects only after the connection has closed: if the caller released it earlier, the pool would reuse it. */
  async #closeOnTimeout(error: unknown): Promise<never> {
    const { stream } = this.connection;
    if (error instanceof Error && error.message === "Query read timeout" && !stream.destroyed) {
      const closed = once(this, "end");
      stream.destroy();
      await closed;
    }
    throw error;
  }
}

export function createPool(options: Omit<DatabaseOptions, "tracing">): pg.Pool {
  const { statementTimeoutMs, logger } = options;
  const pool = new pg.Pool({
    Client: ClosingOnTimeoutClient,
    connectionString: options.url,
    application_name: options.service,
    max: options.poolSize,
    connectionTimeoutMillis: connectionTimeoutMs,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    // The server's statement_timeout fires first; this one covers half-open connections, where no response arrives.
    query_timeout: statementTimeoutMs + 1_000,
    keepAlive: true,
    // A plan made while a table is empty uses a sequential scan, and stays cached on its connection while the table grows; the same
    // holds for the plans of foreign keys. Without a usable index the planner still scans, at a cost estimate that would trigger JIT.
    options: "-c enable_seqscan=off -c jit=off",
  });
  // A connection that breaks while in use fails its query and also emits an error event, which without a listener ends the process.
  pool.on("connect", (client) => client.on("error", () => undefined));
  // The same for a connection that breaks while idle.
  pool.on("error", (error) => logger.warn({ err: error }, "idle database connection lost; the pool will open another"));
  return pool;
}

export function connectDatabase<Schema>(options: DatabaseOptions): Database<Schema> {
  const { tracing } = options;
  const pool = createPool(options);
  const query = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool }),
    log: (event) => tracing.recordQuery(event.query.sql, event.queryDurationMillis, event.level === "error"),
  });
  return { query, pool };
}
