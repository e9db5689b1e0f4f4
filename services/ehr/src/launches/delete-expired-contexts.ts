import { runInBatches } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { deleteExpiredBatch } from "./launch-context-store.ts";

/** Deletes launch contexts that can't be redeemed any more, with their patient ids. Returns the number of deleted rows. */
export function deleteExpiredContexts(database: Kysely<DB>, now: Date): Promise<number> {
  return runInBatches((limit) => deleteExpiredBatch(database, now, limit));
}
