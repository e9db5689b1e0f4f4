import { once } from "node:events";
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

/** Runs a statement that each connection parses and plans only once, under its name. For what runs at every request. */
export type Prepared = <Row extends pg.QueryResultRow>(name: string, text: string, values: unknown[]) => Promise<Row[]>;

export interface Database<Schema> {
  query: Kysely<Schema>;
  prepared: Prepared;
  pool: pg.Pool;
}

const waitForConnectionMs = 2_000;

const namePrefix = "/* planned once: ";
/**
 * A statement that begins with this comment is parsed and planned once on each connection, also within a transaction. For
 * those that a busy process runs at every turn, and whose best plan is the same for all values: planning costs more there than
 * the work itself.
 */
const namedBy = (text: string): string | undefined =>
  text.startsWith(namePrefix) ? text.slice(namePrefix.length, text.indexOf(" */", namePrefix.length)) : undefined;

/**
 * Gives a connection up when a statement gets no answer on it. The pool would keep it and hand it out: every statement that
 * follows would wait behind the one that nobody answers any more.
 */
class ImpatientClient extends pg.Client {
  constructor(options?: pg.ClientConfig) {
    super(options);
    const query = this.query.bind(this) as (...given: unknown[]) => unknown;
    const asked = (...given: unknown[]): unknown => {
      const [text, values] = given;
      const name = typeof text === "string" ? namedBy(text) : undefined;
      const answer = name === undefined ? query(...given) : query({ name, text, values });
      return answer instanceof Promise ? answer.catch((error: unknown) => this.#giveUpAfter(error)) : answer;
    };
    this.query = asked as typeof this.query;
  }

  /** Whoever asked is told once it is gone: what is released before that would be handed out again. */
  async #giveUpAfter(error: unknown): Promise<never> {
    const { stream } = this.connection;
    if (error instanceof Error && error.message === "Query read timeout" && !stream.destroyed) {
      const gone = once(this, "end");
      stream.destroy();
      await gone;
    }
    throw error;
  }
}

export function createPool(options: Omit<DatabaseOptions, "tracing">): pg.Pool {
  const { statementTimeoutMs, logger } = options;
  const pool = new pg.Pool({
    Client: ImpatientClient,
    connectionString: options.url,
    application_name: options.service,
    max: options.poolSize,
    connectionTimeoutMillis: waitForConnectionMs,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    // The server's own time-out comes first; this one ends waiting on a connection that died without a word.
    query_timeout: statementTimeoutMs + 1_000,
    keepAlive: true,
    // A plan that is made while a table is empty scans it, and stays in use on its connection while the table grows: the foreign
    // keys' own plans too. With no index to use the planner scans all the same; it must not compile that as if it were expensive.
    options: "-c enable_seqscan=off -c jit=off",
  });
  // A connection that breaks while in use fails its query and emits an error as well; unheard, that ends the process.
  pool.on("connect", (client) => client.on("error", () => undefined));
  // The same for a connection that breaks while idle.
  pool.on("error", (error) => logger.warn({ err: error }, "an idle database connection broke; the pool replaces it"));
  return pool;
}

export function connectDatabase<Schema>(options: DatabaseOptions): Database<Schema> {
  const { tracing } = options;
  const pool = createPool(options);
  const query = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool }),
    log: (event) => tracing.recordQuery(event.query.sql, event.queryDurationMillis, event.level === "error"),
  });
  const prepared: Prepared = async <Row extends pg.QueryResultRow>(name: string, text: string, values: unknown[]) => {
    // The pool's own `query` gives up the connection with every error, also with those that only the statement has.
    const client = await pool.connect();
    const start = performance.now();
    let failed = true;
    try {
      const { rows } = await client.query<Row>({ name, text, values });
      failed = false;
      return rows;
    } finally {
      client.release();
      tracing.recordQuery(text, performance.now() - start, failed);
    }
  };
  return { query, prepared, pool };
}
