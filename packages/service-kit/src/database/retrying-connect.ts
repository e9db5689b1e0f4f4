import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { isConnectTimeout, isDatabaseUnavailable } from "./database-unavailable.ts";

const maxWaitMs = 2_000;
const retryMs = 100;
const maxWaiting = 200;
/** Of the time of an attempt. Above it, this process has had no time to read what the database has sent. */
const maxUtilization = 0.8;
const maxBusyAttempts = 2;

/**
 * Returns a `connect` that waits up to 2 s for a database that is unavailable (6 s if this process is busy), such as during a restart or a
 * failover. Only connecting is retried, never a statement: after a connection breaks, it is unknown whether its last statement was committed.
 */
export function createRetryingConnect(pool: pg.Pool): () => Promise<pg.PoolClient> {
  let waiting = 0;
  let retry: Promise<boolean> | undefined;
  let lastError: unknown;

  /** Returns whether the database has responded. */
  const tryToConnect = async (): Promise<boolean> => {
    await delay(retryMs);
    try {
      (await pool.connect()).release();
    } catch (error) {
      // Any other error is a response of the database, and each caller gets it when it connects itself.
      if (!isDatabaseUnavailable(error)) return true;
      lastError = error;
      return false;
    }
    return true;
  };

  /** All callers share one attempt at a time: hundreds would slow down a database that is starting. */
  const waitForDatabase = async (deadline: number): Promise<void> => {
    if (waiting >= maxWaiting) throw lastError;
    waiting += 1;
    try {
      do {
        if (performance.now() + retryMs > deadline) throw lastError;
        retry ??= tryToConnect().finally(() => {
          retry = undefined;
        });
      } while (!(await retry));
    } finally {
      waiting -= 1;
    }
  };

  return async () => {
    let deadline = performance.now() + maxWaitMs;
    let busyAttempts = 0;
    for (;;) {
      if (retry === undefined || pool.idleCount > 0) {
        const begun = performance.eventLoopUtilization();
        try {
          return await pool.connect();
        } catch (error) {
          if (!isDatabaseUnavailable(error)) throw error;
          lastError = error;
          // The timer of a busy process fires before it reads what has arrived meanwhile: that says nothing about the database.
          const isBusy = performance.eventLoopUtilization(begun).utilization > maxUtilization;
          if (isBusy && isConnectTimeout(error) && busyAttempts < maxBusyAttempts) {
            busyAttempts += 1;
            deadline = performance.now() + maxWaitMs;
            continue;
          }
        }
      }
      await waitForDatabase(deadline);
    }
  };
}
