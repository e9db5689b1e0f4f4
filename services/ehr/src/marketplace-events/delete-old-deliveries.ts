import { runInBatches } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { deleteAppliedBefore } from "./applied-delivery-store.ts";

/** Longer than the marketplace retries a delivery. A later one is outdated, and changes nothing. */
const retentionDays = 45;

export function deleteOldDeliveries(database: Kysely<DB>, now: Date): Promise<number> {
  const before = new Date(now.getTime() - retentionDays * 86_400_000);
  return runInBatches((limit) => deleteAppliedBefore(database, before, limit));
}
