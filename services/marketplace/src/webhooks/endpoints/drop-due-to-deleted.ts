import { type Batches, inBatches } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../../database-schema.ts";
import { dropDeliveries, findSilenced, forgetSilenced } from "./deleted-endpoint-store.ts";

const mostEndpoints = 100;

/** What was due to endpoints that were deleted: it may be a million rows, too many for whoever deletes one. */
export async function dropDueToDeleted(database: Kysely<DB>, now: Date, batches?: Batches): Promise<number> {
  let dropped = 0;
  for (const id of await findSilenced(database, mostEndpoints)) {
    dropped += await inBatches((most) => dropDeliveries(database, id, now, most), batches);
    await database.transaction().execute((transaction) => forgetSilenced(transaction, id));
  }
  return dropped;
}
