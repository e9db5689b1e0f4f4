import type { PgBoss } from "pg-boss";

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
