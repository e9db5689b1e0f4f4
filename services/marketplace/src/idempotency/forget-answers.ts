import { type Batches, inBatches } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { deleteAnsweredBefore } from "./idempotent-answer-store.ts";
import { keptMs } from "./once.ts";

/** Deletes answers that nobody gets again. */
export function forgetAnswers(database: Kysely<DB>, now: Date, batches?: Batches): Promise<number> {
  const before = new Date(now.getTime() - keptMs);
  return inBatches((most) => deleteAnsweredBefore(database, before, most), batches);
}
