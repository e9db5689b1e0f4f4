import type { Queue } from "@ehr-marketplace/service-kit/queue";
import { type Kysely, sql } from "kysely";
import type { PgBoss } from "pg-boss";
import type { DB } from "../../database-schema.ts";
import { chores } from "../../queue/queues.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import { keptForDisabled } from "./retry-schedule.ts";
import { sweepDeliveries } from "./sweep.ts";

export interface Tending {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  metrics: DeliveryMetrics;
  logDays: number;
}

const schedule = {
  sweep: "* * * * *",
  "keep-house": "7 * * * *",
} as const;
type Chore = keyof typeof schedule;

const did: Record<Chore, (tending: Tending) => Promise<void>> = {
  async sweep({ database, queue, clock, metrics }) {
    metrics.swept(await sweepDeliveries(database, queue, clock()));
  },
  async "keep-house"({ database, clock, logDays }) {
    const now = clock();
    const today = now.toISOString().slice(0, 10);
    await sql`select prepare_attempt_partitions(${today}::date, ${logDays})`.execute(database);
    await sql`delete from idempotent_answers where answered_at < ${new Date(now.getTime() - 86_400_000)}`.execute(
      database,
    );
    await sql`
      update deliveries set status = 'expired', settled_at = ${now} from recipients
      where recipients.id = deliveries.recipient_id and recipients.status = 'disabled'
        and deliveries.status = 'waiting' and deliveries.created_at < ${new Date(now.getTime() - keptForDisabled)}`.execute(
      database,
    );
  },
};

/** What the clock starts, once for all workers, whichever of them is free. */
export async function tendByTheClock(boss: PgBoss, tending: Tending): Promise<void> {
  // After a week without any worker there would be no partition for today until the clock comes round.
  await did["keep-house"](tending);
  for (const [chore, cron] of Object.entries(schedule)) await boss.schedule(chores, cron, { chore }, { key: chore });
  await boss.work<{ chore: Chore }>(chores, { pollingIntervalSeconds: 2 }, async (jobs) => {
    for (const { data } of jobs) await did[data.chore]?.(tending);
  });
}
