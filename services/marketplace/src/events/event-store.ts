import { executeDeferred, executePrepared } from "@ehr-marketplace/service-kit/database";
import type { Insertable, Kysely, Transaction } from "kysely";
import type { DB, Events } from "../database-schema.ts";

export async function insertEvent(database: Transaction<DB>, event: Insertable<Events>): Promise<void> {
  // Always the same columns, so that there is one prepared statement. A ping has no subscription.
  const statement = database.insertInto("events").values({ subscription_id: null, sequence: null, ...event });
  await executeDeferred(database, "insert-event", statement);
}

export async function findEventTime(
  database: Kysely<DB>,
  subscriptionId: string,
  sequence: number,
): Promise<Date | undefined> {
  const statement = database
    .selectFrom("events")
    .select("occurred_at")
    .where("subscription_id", "=", subscriptionId)
    .where("sequence", "=", sequence);
  const { rows } = await executePrepared(database, "find-event-time", statement);
  return rows[0]?.occurred_at;
}
