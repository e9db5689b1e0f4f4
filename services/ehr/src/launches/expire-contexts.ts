import { inBatches } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { deleteExpired } from "./launch-context-store.ts";

/** Nobody can redeem them any more; what they say of patients goes with them. Answers how many they were. */
export function deleteExpiredContexts(database: Kysely<DB>, now: Date): Promise<number> {
  return inBatches((most) => deleteExpired(database, now, most));
}
