import { runInTransactions } from "@ehr-marketplace/service-kit/database";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { lockTokensToReencrypt, updateClient } from "./client-store.ts";
import { registrationTokenOwner } from "./stored-client.ts";

export function reencryptRegistrationTokens(
  database: Kysely<DB>,
  encryption: Encryption,
  currentVersion: number,
): Promise<number> {
  return runInTransactions(database, async (transaction, limit) => {
    const rows = await lockTokensToReencrypt(transaction, currentVersion, limit);
    for (const { id, encrypted_registration_token } of rows) {
      // The client itself doesn't change, so `updated_at` stays.
      await updateClient(transaction, id, {
        encrypted_registration_token: encryption.reencrypt(encrypted_registration_token, registrationTokenOwner(id)),
      });
    }
    return rows.length;
  });
}
