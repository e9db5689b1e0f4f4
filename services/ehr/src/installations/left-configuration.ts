import { inBatches } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { deleteRemovedBefore } from "./subscription-store.ts";

const keptDays = 30;

/** A configuration outlives its subscription until then: whoever subscribes again within that time finds it as it was. */
export const configLeftSince = (now: Date): Date => new Date(now.getTime() - keptDays * 86_400_000);

export function deleteLeftConfigurations(database: Kysely<DB>, now: Date): Promise<number> {
  return inBatches((most) => deleteRemovedBefore(database, configLeftSince(now), most));
}
