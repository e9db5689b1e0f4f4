import type { Insertable, Kysely } from "kysely";
import type { DB, Events } from "../../database-schema.ts";

export async function insertEvent(database: Kysely<DB>, event: Insertable<Events>): Promise<void> {
  await database.insertInto("events").values(event).execute();
}
