import { inBatches } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { clearOverlapsUntil } from "./organisation-store.ts";

/** A secret that no longer verifies has no reason to be kept. Answers how many there were. */
export function forgetEndedSecrets(database: Kysely<DB>, now: Date): Promise<number> {
  return inBatches((most) => clearOverlapsUntil(database, now, most));
}
