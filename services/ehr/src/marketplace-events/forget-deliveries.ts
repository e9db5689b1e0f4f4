import { inBatches } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { deleteAppliedBefore } from "./applied-delivery-store.ts";

/** Longer than the marketplace goes on sending one; what comes later still is older than what is known, and changes nothing. */
const keptDays = 45;

export function forgetDeliveries(database: Kysely<DB>, now: Date): Promise<number> {
  const before = new Date(now.getTime() - keptDays * 86_400_000);
  return inBatches((most) => deleteAppliedBefore(database, before, most));
}
