import { PgBoss } from "pg-boss";
import { createPool, type DatabaseOptions } from "../database/connect.ts";
import { DatabaseUnavailableError } from "../database/database-unavailable.ts";
import type { Logger } from "../telemetry/logger.ts";
import { neededQueueVersion, QueueVersionError, queueSchema, readQueueVersion } from "./queue-version.ts";
import { retryUntilDone } from "./run-repeatedly.ts";

export interface Queue {
  /**
   * Returns the running pg-boss, or throws until the queue has started, so that the request gets a 503. The error's `cause` says why it
   * hasn't. It never waits: callers may hold a connection, and waiting for another connection while holding one can deadlock the pool.
   */
  boss(): PgBoss;
  /** Resolves once the queue has started, or is stopped before. */
  readonly started: Promise<void>;
  stop(): Promise<void>;
}

export interface QueueOptions extends Pick<DatabaseOptions, "url" | "service" | "statementTimeoutMs"> {
  logger: Logger;
  /** Whether this process recovers the jobs of dead workers and runs schedules. Only one kind of process does. */
  supervisesJobs: boolean;
}

const retryStartMs = 1_000;
const poolSizes = { supervising: 4, sending: 1 };

/**
 * Starts pg-boss on a pool of its own, so that an exhausted request pool can't block its start. If the database is unavailable, the
 * process starts anyway and the queue retries in the background. The migration step installs the schema. A queue that runs goes on when
 * its schema is upgraded.
 */
export async function startQueue(options: QueueOptions): Promise<Queue> {
  const { logger, supervisesJobs } = options;
  const pool = createPool({ ...options, poolSize: supervisesJobs ? poolSizes.supervising : poolSizes.sending });
  const stopping = new AbortController();
  let running: PgBoss | undefined;
  let startFailure: unknown;

  const start = async (): Promise<void> => {
    const version = await readQueueVersion(pool);
    if (version !== neededQueueVersion) throw new QueueVersionError(version);
    // pg-boss starts even if it can't read its queues, and then refuses to send; such a start counts as failed.
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
  const started = retryUntilDone({
    work: async () => {
      try {
        await start();
      } catch (error) {
        startFailure = error;
        throw error;
      } finally {
        firstAttempt.resolve();
      }
    },
    failureMessage: "failed to start the queue",
    pauseMs: retryStartMs,
    logger,
    stopped: stopping.signal,
  });
  await firstAttempt.promise;
  return {
    started,
    boss() {
      if (running === undefined)
        throw new DatabaseUnavailableError("the queue has not started yet", { cause: startFailure });
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
  { logger, supervisesJobs }: QueueOptions,
  executeSql: (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>,
): PgBoss {
  const boss = new PgBoss({
    db: { executeSql },
    schema: queueSchema,
    migrate: false,
    createSchema: false,
    supervise: supervisesJobs,
    schedule: supervisesJobs,
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
    cronMonitorIntervalSeconds: 10,
    cronWorkerIntervalSeconds: 5,
    // Reindexing requires ownership, which the service's role doesn't have.
    reindex: false,
  });
  boss.on("error", (error) => {
    const { queue } = error as { queue?: string };
    logger.error({ err: error, queue }, "pg-boss reported an error; it retries");
  });
  boss.on("warning", (warning) => logger.warn({ warning }, "pg-boss reported a warning"));
  return boss;
}
