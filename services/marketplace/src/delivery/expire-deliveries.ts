import { type BatchOptions, runInBatches } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { expireWaiting } from "./maintenance-store.ts";

/** Deliveries to a disabled endpoint expire after this. */
const disabledRetentionMs = 30 * 24 * 3_600_000;

/** Expires deliveries that have been due to a disabled endpoint for the whole retention period. */
export function expireDeliveries(database: Kysely<DB>, now: Date, batches?: BatchOptions): Promise<number> {
  const before = new Date(now.getTime() - disabledRetentionMs);
  return runInBatches((limit) => expireWaiting(database, now, before, limit), batches);
}
