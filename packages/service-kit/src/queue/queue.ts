import { PgBoss } from "pg-boss";
import { createPool, type DatabaseOptions } from "../database/connect.ts";
import { DatabaseUnavailableError } from "../database/database-away.ts";
import type { Logger } from "../telemetry/logger.ts";
import { untilDone } from "./again.ts";

export interface Queue {
  /**
   * The running pg-boss. It never waits: callers may hold a connection, and one that waits for another connection while it holds
   * one can deadlock the pool. Until the queue has started it throws, and the request is answered 503.
   */
  boss(): PgBoss;
  stop(): Promise<void>;
}

export interface QueueOptions extends Pick<DatabaseOptions, "url" | "service" | "statementTimeoutMs"> {
  logger: Logger;
  /** One kind of process looks after jobs whose worker died, and after schedules. */
  tendsJobs: boolean;
}

export const queueSchema = "pgboss";
const retryStartMs = 1_000;
const connections = { tending: 4, sending: 1 };

/**
 * Starts pg-boss on connections of its own: requests that wait for the request pool can't keep it from starting. Where the
 * database is unavailable, the queue goes on trying in the background and the process starts all the same. The schema is
 * installed by the migration step.
 */
export async function startQueue(options: QueueOptions): Promise<Queue> {
  const { logger, tendsJobs } = options;
  const pool = createPool({ ...options, poolSize: tendsJobs ? connections.tending : connections.sending });
  const stopping = new AbortController();
  let running: PgBoss | undefined;

  const start = async (): Promise<void> => {
    // pg-boss starts although it can't read its queues, and then refuses to send; such a start counts as failed.
    let failure: unknown;
    const boss = createBoss(options, (text, values) =>
      pool.query(text, values).catch((error: unknown) => {
        failure = error;
        throw error;
      }),
    );
    try {
      await boss.start();
      if (failure !== undefined)
        throw new DatabaseUnavailableError("pg-boss started without its queues", { cause: failure });
      running = boss;
    } catch (error) {
      await boss.stop({ graceful: false, close: false });
      throw error;
    }
  };

  const firstAttempt = Promise.withResolvers<void>();
  const started = untilDone({
    work: () => start().finally(() => firstAttempt.resolve()),
    problem: "failed to start the queue",
    pauseMs: retryStartMs,
    logger,
    stopped: stopping.signal,
  });
  await firstAttempt.promise;
  return {
    boss() {
      if (running === undefined) throw new DatabaseUnavailableError("the queue has not started yet");
      return running;
    },
    async stop() {
      stopping.abort();
      await started;
      await running?.stop({ graceful: false, close: false });
      await pool.end();
    },
  };
}

function createBoss(
  { logger, tendsJobs }: QueueOptions,
  executeSql: (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>,
): PgBoss {
  const boss = new PgBoss({
    db: { executeSql },
    schema: queueSchema,
    migrate: false,
    createSchema: false,
    supervise: tendsJobs,
    schedule: tendsJobs,
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
    cronMonitorIntervalSeconds: 10,
    cronWorkerIntervalSeconds: 5,
    // The service's role owns no index.
    reindex: false,
  });
  boss.on("error", (error) => logger.error({ err: error }, "queue error"));
  boss.on("warning", (warning) => logger.warn({ warning }, "queue warning"));
  return boss;
}
