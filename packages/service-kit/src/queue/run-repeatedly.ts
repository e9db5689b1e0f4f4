import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../telemetry/logger.ts";

export interface RepeatOptions {
  /** Return true to stop repeating. */
  work: () => Promise<unknown>;
  /** Logged when `work` fails, followed by the time of the retry: "failed to …". */
  failureMessage: string;
  pauseMs: number;
  logger: Logger;
  stopped: AbortSignal;
}

/** Runs `work` repeatedly, with a pause after each run, until it returns true or the process stops. Errors are logged and retried. */
export async function runRepeatedly({ work, failureMessage, pauseMs, logger, stopped }: RepeatOptions): Promise<void> {
  while (!stopped.aborted) {
    try {
      if ((await work()) === true) return;
    } catch (error) {
      logger.warn({ err: error }, `${failureMessage}; retrying in ${pauseMs / 1_000} s`);
    }
    await delay(pauseMs, undefined, { signal: stopped }).catch(() => undefined);
  }
}

/** Retries `work` until it has succeeded once, for dependencies that may be unavailable when the process starts. */
export const retryUntilDone = (options: RepeatOptions): Promise<void> =>
  runRepeatedly({ ...options, work: () => options.work().then(() => true) });
