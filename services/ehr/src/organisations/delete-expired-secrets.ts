import { runInBatches } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { clearExpiredPreviousSecrets } from "./organisation-store.ts";

/** Deletes previous secrets whose overlap has ended. Returns the number of organisations. */
export function deleteExpiredSecrets(database: Kysely<DB>, now: Date): Promise<number> {
  return runInBatches((limit) => clearExpiredPreviousSecrets(database, now, limit));
}
