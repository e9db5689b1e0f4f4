import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { countRecipients, type RecipientCounts } from "../recipients/read-health.ts";
import { countDue, type DueDeliveries } from "./sweep-store.ts";

export type Backlog = DueDeliveries & RecipientCounts;

/** Reads all unsettled deliveries; the caller caches the result. */
export async function readBacklog(database: Kysely<DB>): Promise<Backlog> {
  return { ...(await countDue(database)), ...(await countRecipients(database)) };
}
