import { type BatchOptions, runInBatches } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../../database-schema.ts";
import { dropDeliveries, findDeletedRecipients, resetDeletedRecipient } from "./deleted-endpoint-store.ts";

const maxEndpointsPerRun = 100;

/** Drops the unsettled deliveries of deleted endpoints. There may be a million, too many for the request that deletes the endpoint. */
export async function dropDeletedEndpointDeliveries(
  database: Kysely<DB>,
  now: Date,
  batches?: BatchOptions,
): Promise<number> {
  let dropped = 0;
  for (const id of await findDeletedRecipients(database, maxEndpointsPerRun)) {
    dropped += await runInBatches((limit) => dropDeliveries(database, id, now, limit), batches);
    await database.transaction().execute((transaction) => resetDeletedRecipient(transaction, id));
  }
  return dropped;
}
