import type pg from "pg";
import { PgBoss } from "pg-boss";
import type { Logger } from "../telemetry/logger.ts";

export interface Queue {
  /** Starts it at its first use: a process whose database is away starts all the same, and answers 503 until it is back. */
  boss(): Promise<PgBoss>;
  stop(): Promise<void>;
}

export const queueSchema = "pgboss";

/** pg-boss on the process's own connections. What it needs in the database is there: the migration step has seen to it. */
export function createQueue(options: { pool: pg.Pool; logger: Logger; tendsJobs: boolean }): Queue {
  const { pool, logger, tendsJobs } = options;
  const boss = new PgBoss({
    db: { executeSql: (text, values) => pool.query(text, values) },
    schema: queueSchema,
    migrate: false,
    createSchema: false,
    // One kind of process looks after jobs whose worker died, and after the clock.
    supervise: tendsJobs,
    schedule: tendsJobs,
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
    cronMonitorIntervalSeconds: 10,
    cronWorkerIntervalSeconds: 5,
    // The service's role owns no index.
    reindex: false,
  });
  boss.on("error", (error) => logger.error({ err: error }, "the queue has a problem"));
  boss.on("warning", (warning) => logger.warn({ warning }, "the queue warns"));
  let started: Promise<PgBoss> | undefined;
  return {
    boss() {
      started ??= boss.start().catch((error: unknown) => {
        started = undefined;
        throw error;
      });
      return started;
    },
    async stop() {
      if (started !== undefined) await boss.stop({ graceful: false, close: false });
    },
  };
}
