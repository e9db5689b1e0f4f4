import { runInTransactions } from "@ehr-marketplace/service-kit/database";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { previousSecretOwner, secretOwner } from "./organisation.ts";
import { lockSecretsToReencrypt, updateOrganisation } from "./organisation-store.ts";

/** Re-encrypts each organisation's secret and, during an overlap, its previous secret. */
export function reencryptSecrets(
  database: Kysely<DB>,
  encryption: Encryption,
  currentVersion: number,
): Promise<number> {
  return runInTransactions(database, async (transaction, limit) => {
    const rows = await lockSecretsToReencrypt(transaction, currentVersion, limit);
    for (const { alias, encrypted_secret, encrypted_previous_secret: previous } of rows) {
      await updateOrganisation(transaction, alias, {
        encrypted_secret: encryption.reencrypt(encrypted_secret, secretOwner(alias)),
        encrypted_previous_secret:
          previous === null ? null : encryption.reencrypt(previous, previousSecretOwner(alias)),
      });
    }
    return rows.length;
  });
}
