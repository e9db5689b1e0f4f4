import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../telemetry/logger.ts";

export interface Repeated {
  /** True: it need not be done again. */
  work: () => Promise<unknown>;
  /** What is to be logged when it fails. */
  problem: string;
  pauseMs: number;
  logger: Logger;
  stopped: AbortSignal;
}

/** Does something again and again, with a pause in between, until it says that it is over or the process stops. */
export async function again({ work, problem, pauseMs, logger, stopped }: Repeated): Promise<void> {
  while (!stopped.aborted) {
    try {
      if ((await work()) === true) return;
    } catch (error) {
      logger.warn({ err: error }, `${problem}; trying again`);
    }
    await delay(pauseMs, undefined, { signal: stopped }).catch(() => undefined);
  }
}

/** The same until it has been done once: what it needs may be away when the process starts. */
export const untilDone = (repeated: Repeated): Promise<void> =>
  again({ ...repeated, work: () => repeated.work().then(() => true) });
