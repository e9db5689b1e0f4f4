import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "../telemetry/logger.ts";

export interface Notifier {
  /** Sends a notification soon. Returns at once and never fails. */
  notify(): void;
  /** Resolves when no notification is being sent; the time-outs of the pool limit the wait. */
  stop(): Promise<void>;
}

/** Calls within this time share a notification. */
const minIntervalMs = 10;

/**
 * Notifies the listeners of a channel, to be called after a commit. PostgreSQL serialises the commits of all transactions that
 * notify, so a transaction that writes should not be one of them. Calls while a notification is being sent share the next one.
 */
export function createNotifier(options: { pool: pg.Pool; channel: string; logger: Logger }): Notifier {
  const { pool, channel, logger } = options;
  let isRequested = false;
  let sending: Promise<void> | undefined;
  let nextAt = 0;

  const send = async (): Promise<void> => {
    try {
      while (isRequested) {
        const wait = nextAt - performance.now();
        if (wait > 0) await delay(wait);
        nextAt = performance.now() + minIntervalMs;
        isRequested = false;
        // It changes no data, so its commit waits neither for the disk nor for a standby.
        await pool.query("select pg_notify($1, '')", [channel]);
      }
    } catch (error) {
      logger.warn({ err: error, channel }, "failed to notify listeners; they find the change when they poll");
    } finally {
      sending = undefined;
    }
  };
  return {
    notify() {
      isRequested = true;
      sending ??= send();
    },
    async stop() {
      await sending;
    },
  };
}
