import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { scheduleMissingOriginProbes } from "../recipients/apply-origin-event.ts";
import { markCrowded, scheduleMissingProbes } from "../recipients/apply-recipient-event.ts";
import { insertJobs } from "./delivery-jobs.ts";
import { findCrowded, findCrowdedOfVendor, queueLost } from "./sweep-store.ts";

const maxFound = 1_000;
const minAgeMs = 60_000;

/**
 * Repairs deliveries that would never be sent: queued without a job, or waiting although nothing precedes them. Locks and
 * transactions prevent these states; the sweep covers unknown bugs, and returns how many it found.
 */
export async function sweepDeliveries(database: Kysely<DB>, queue: Queue, now: Date): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    const lost = await queueLost(transaction, new Date(now.getTime() - minAgeMs), maxFound);
    await insertJobs(transaction, queue, lost);
    await markCrowded(transaction, queue, await findCrowded(transaction), now);
    const probes = await scheduleMissingProbes(transaction, queue, now, maxFound);
    return lost.length + probes + (await scheduleMissingOriginProbes(transaction, queue, now, maxFound));
  });
}

/** Marks the vendor's endpoints that have too many queued deliveries: a batch of events adds them faster than the sweep runs. */
export async function markCrowdedEndpoints(
  { database, queue }: { database: Kysely<DB>; queue: Queue },
  vendorId: string,
  now: Date,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await markCrowded(transaction, queue, await findCrowdedOfVendor(transaction, vendorId), now);
  });
}
