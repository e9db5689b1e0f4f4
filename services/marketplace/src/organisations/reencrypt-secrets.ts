import { runInTransactions } from "@ehr-marketplace/service-kit/database";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { secretOwner } from "./organisation.ts";
import { lockOrganisationsToReencrypt, updateOrganisation } from "./organisation-store.ts";

/** Re-encrypts secrets with the current key. Safe to interrupt, to repeat, and to run beside other processes. */
export function reencryptSecrets(
  database: Kysely<DB>,
  encryption: Encryption,
  currentVersion: number,
): Promise<number> {
  return runInTransactions(database, async (transaction, limit) => {
    const rows = await lockOrganisationsToReencrypt(transaction, currentVersion, limit);
    for (const { id, encrypted_secret } of rows) {
      await updateOrganisation(transaction, id, {
        encrypted_secret: encryption.reencrypt(encrypted_secret, secretOwner(id)),
      });
    }
    return rows.length;
  });
}
