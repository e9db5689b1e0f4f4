import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { deleteExpired } from "./launch-context-store.ts";

/** So many at a time, so that none of the statements takes long. */
const atATime = 5_000;

/** Nobody can redeem them any more; what they say of patients goes with them. Answers how many they were. */
export async function deleteExpiredContexts(database: Kysely<DB>, now: Date): Promise<number> {
  let all = 0;
  for (let deleted = atATime; deleted === atATime; all += deleted) {
    deleted = await deleteExpired(database, now, atATime);
  }
  return all;
}
