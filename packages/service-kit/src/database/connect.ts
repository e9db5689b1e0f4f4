import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { Logger } from "../telemetry/logger.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import { applySettings } from "./apply-settings.ts";
import { findExecutionOptions } from "./execute-prepared.ts";
import { isReadOnly } from "./read-only.ts";
import { createRetryingConnect } from "./retrying-connect.ts";

export interface DatabaseOptions {
  url: string;
  service: string;
  poolSize: number;
  statementTimeoutMs: number;
  logger: Logger;
  tracing: Tracing;
}

export interface Database<Schema> {
  /** Waits up to 2 s for a database that is unavailable. */
  query: Kysely<Schema>;
  /** The same connections. It fails at once if the database is unavailable. */
  pool: pg.Pool;
}

const connectionTimeoutMs = 2_000;

/**
 * Pipelines statements: a deferred one (see `executeDeferred`) is sent with the next one. Closes its connection when a query times out:
 * otherwise the pool would keep the connection, and every later statement on it would wait behind the one without a response.
 */
class PipelinedClient extends pg.Client {
  /** Whether a statement has failed because nothing can be written on this connection. */
  hasMetReadOnly = false;
  readonly #ended = Promise.withResolvers<void>();
  #deferred: Promise<unknown>[] = [];
  #unsent = 0;
  /** How often statements were sent. */
  #sendings = 0;

  constructor(options?: pg.ClientConfig) {
    super({ ...options, pipeline: true });
    this.once("end", this.#ended.resolve);
    const query = this.query.bind(this) as (...parameters: unknown[]) => unknown;
    const send = (...parameters: unknown[]): unknown => {
      const [text, values] = parameters;
      const prepared = findExecutionOptions(values);
      const isDeferred = prepared?.isDeferred === true || text === "begin";
      if (isDeferred) this.#keepUnsent();
      const result = prepared === undefined ? query(...parameters) : query({ name: prepared.name, text, values });
      if (!isDeferred) this.#sendNow();
      if (!(result instanceof Promise)) return result;
      if (!isDeferred) return this.#complete(result);
      const sendingsBefore = this.#sendings;
      const sendIfUnsent = (): void => {
        if (this.#sendings === sendingsBefore) this.#sendNow();
      };
      prepared?.onDeferred?.(result as Promise<pg.QueryResult>, sendIfUnsent);
      return this.#defer(result);
    };
    this.query = send as typeof this.query;
  }

  /** A corked stream keeps what is written, and sends it in one piece. */
  #keepUnsent(): void {
    this.#unsent += 1;
    this.connection.stream.cork();
  }

  #sendNow(): void {
    this.#sendings += 1;
    for (; this.#unsent > 0; this.#unsent -= 1) this.connection.stream.uncork();
  }

  #defer(result: Promise<unknown>): Promise<{ rows: unknown[] }> {
    result.catch(() => undefined);
    this.#deferred.push(result);
    return Promise.resolve({ rows: [] });
  }

  /** PostgreSQL responds in order, so the deferred statements have completed before this one. */
  async #complete(result: Promise<unknown>): Promise<unknown> {
    const deferred = this.#deferred.splice(0);
    const [completed] = await Promise.allSettled([result]);
    // What follows a failed statement fails because of it, and a commit rolls back.
    for (const each of deferred) await each.catch((error: unknown) => this.#fail(error));
    return completed.status === "fulfilled" ? completed.value : this.#fail(completed.reason);
  }

  /** Rejects only after the connection has closed: if the caller released it earlier, the pool would reuse it. */
  async #fail(error: unknown): Promise<never> {
    this.hasMetReadOnly ||= isReadOnly(error);
    if (error instanceof Error && error.message === "Query read timeout") {
      this.connection.stream.destroy();
      await this.#ended.promise;
    }
    throw error;
  }
}

export function createPool(options: Omit<DatabaseOptions, "tracing">): pg.Pool {
  const { statementTimeoutMs, logger } = options;
  // The pool waits for it, and closes a connection that it fails for.
  const prepare = (client: pg.ClientBase): unknown =>
    applySettings(client, {
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: statementTimeoutMs,
      // A plan made while a table is empty uses a sequential scan, and stays cached on its connection while the table grows; the same
      // holds for the plans of foreign keys. Without a usable index the planner still scans, at a cost estimate that would trigger JIT.
      enable_seqscan: "off",
      jit: "off",
    });
  const pool = new pg.Pool({
    Client: PipelinedClient,
    connectionString: options.url,
    application_name: options.service,
    max: options.poolSize,
    connectionTimeoutMillis: connectionTimeoutMs,
    onConnect: prepare,
    // The server's statement_timeout fires first; this one covers half-open connections, where no response arrives.
    query_timeout: statementTimeoutMs + 1_000,
    keepAlive: true,
  });
  // The pool closes a connection that is ending. An open transaction is rolled back before, and fails for its own reason.
  pool.on("release", (_error, client) => {
    if (client instanceof PipelinedClient && client.hasMetReadOnly) void client.end();
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
    dialect: new PostgresDialect({
      pool: { options: pool.options, connect: createRetryingConnect(pool), end: () => pool.end() },
    }),
    log: (event) => tracing.recordQuery(event.query.sql, event.queryDurationMillis, event.level === "error"),
  });
  return { query, pool };
}
