import type { PgBoss } from "pg-boss";
import type { Logger } from "../telemetry/logger.ts";

export interface Chore {
  cron: string;
  /** Once: what fell due while nobody was there is made up for. */
  missed?: "once" | "skip";
  work(): Promise<unknown>;
}

/** What the clock starts, once for all processes, whichever of them is free. */
export async function workByTheClock(boss: PgBoss, queue: string, chores: Record<string, Chore>): Promise<void> {
  for (const [chore, { cron, missed = "skip" }] of Object.entries(chores)) {
    await boss.schedule(queue, cron, { chore }, { key: chore, missed });
  }
  await boss.work<{ chore: string }>(queue, { pollingIntervalSeconds: 2 }, async (jobs) => {
    for (const { data } of jobs) await chores[data.chore]?.work();
  });
}

/** Steps of house-keeping: what goes wrong with one is no reason to leave out the others. */
export async function doEach(
  steps: Record<string, () => Promise<unknown>>,
  { logger, stopped }: { logger: Logger; stopped?: AbortSignal },
): Promise<void> {
  for (const [step, work] of Object.entries(steps)) {
    if (stopped?.aborted === true) return;
    await work().catch((error: unknown) =>
      logger.error({ err: error, step }, "a step of house-keeping failed; it is tried again within an hour"),
    );
  }
}
