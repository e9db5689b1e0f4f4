import { runInBatches } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { deleteRemovedBefore } from "./installation-store.ts";

const retentionDays = 30;

/** Installations removed before this lose their configuration; a new subscription within the retention restores it. */
export const retentionCutoff = (now: Date): Date => new Date(now.getTime() - retentionDays * 86_400_000);

export function deleteRemovedInstallations(database: Kysely<DB>, now: Date): Promise<number> {
  return runInBatches((limit) => deleteRemovedBefore(database, retentionCutoff(now), limit));
}
