import { runInTransactions } from "@ehr-marketplace/service-kit/database";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { lockConfigsToReencrypt, updateInstallation } from "./installation-store.ts";
import { configOwner } from "./stored-config.ts";

/** Includes removed installations: a new subscription restores their configurations. */
export function reencryptConfigs(
  database: Kysely<DB>,
  encryption: Encryption,
  currentVersion: number,
): Promise<number> {
  return runInTransactions(database, async (transaction, limit) => {
    const rows = await lockConfigsToReencrypt(transaction, currentVersion, limit);
    for (const { id, encrypted_config } of rows) {
      // The configuration itself doesn't change, so `updated_at` stays.
      await updateInstallation(transaction, id, {
        encrypted_config: encryption.reencrypt(encrypted_config, configOwner(id)),
      });
    }
    return rows.length;
  });
}
