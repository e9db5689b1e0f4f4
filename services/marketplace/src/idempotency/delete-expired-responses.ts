import { type BatchOptions, runInBatches } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { deleteResponsesBefore } from "./idempotent-response-store.ts";
import { retentionMs } from "./run-idempotently.ts";

/** Deletes stored responses whose retention period has passed. */
export function deleteExpiredResponses(database: Kysely<DB>, now: Date, batches?: BatchOptions): Promise<number> {
  const before = new Date(now.getTime() - retentionMs);
  return runInBatches((limit) => deleteResponsesBefore(database, before, limit), batches);
}
