import type { Insertable, Kysely } from "kysely";
import type { DB, Events } from "../database-schema.ts";

export async function insertEvent(database: Kysely<DB>, event: Insertable<Events>): Promise<void> {
  await database.insertInto("events").values(event).execute();
}

export async function findEventTime(
  database: Kysely<DB>,
  subscriptionId: string,
  sequence: number,
): Promise<Date | undefined> {
  const found = await database
    .selectFrom("events")
    .select("occurred_at")
    .where("subscription_id", "=", subscriptionId)
    .where("sequence", "=", sequence)
    .executeTakeFirst();
  return found?.occurred_at;
}
