import { runInBatches } from "@ehr-marketplace/service-kit/database";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { endCertificationsOf } from "./review-store.ts";

/** A certification is shown until its last day: removes those that have ended from the catalog. */
export function endCertifications(database: Kysely<DB>, { stopped }: { stopped: AbortSignal }): Promise<number> {
  return runInBatches((limit) => endCertificationsOf(database, limit), { batchSize: 100, stopped });
}
