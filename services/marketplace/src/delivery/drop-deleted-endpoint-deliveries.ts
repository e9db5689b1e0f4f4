import { type BatchOptions, runInBatches } from "@ehr-marketplace/service-kit/database";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { drainRecipient } from "../recipients/apply-recipient-event.ts";
import { dropDeliveries, findDeletedRecipients, hasUnsettled } from "./maintenance-store.ts";

const maxEndpointsPerRun = 100;

/** Drops the unsettled deliveries of deleted endpoints. There may be a million, too many for the request that deletes the endpoint. */
export async function dropDeletedEndpointDeliveries(
  { database, queue }: { database: Kysely<DB>; queue: Queue },
  now: Date,
  batches?: BatchOptions,
): Promise<number> {
  let dropped = 0;
  for (const id of await findDeletedRecipients(database, maxEndpointsPerRun)) {
    dropped += await runInBatches((limit) => dropDeliveries(database, id, now, limit), batches);
    await database
      .transaction()
      .execute((transaction) => drainRecipient(transaction, queue, id, () => hasUnsettled(transaction, id)));
  }
  return dropped;
}
