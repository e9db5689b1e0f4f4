import { type Queue, workByTheClock } from "@ehr-marketplace/service-kit/queue";
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

async function keepHouse({ database, clock, logDays }: Tending): Promise<void> {
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
}

export async function tendByTheClock(boss: PgBoss, tending: Tending): Promise<void> {
  const { database, queue, clock, metrics } = tending;
  // After a week without any worker there would be no partition for today until the clock comes round.
  await keepHouse(tending);
  await workByTheClock(boss, chores, {
    sweep: {
      cron: "* * * * *",
      work: async () => metrics.swept(await sweepDeliveries(database, queue, clock())),
    },
    "keep-house": { cron: "7 * * * *", work: () => keepHouse(tending) },
  });
}
