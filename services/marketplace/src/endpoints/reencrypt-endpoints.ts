import { runInTransactions } from "@ehr-marketplace/service-kit/database";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { endpointSecretOwner, nextSecretOwner } from "./endpoint.ts";
import { lockEncryptedWithOtherKey, updateEndpoint } from "./endpoint-store.ts";

/** Re-encrypts the endpoints' current and next secrets with the current version of the key. */
export function reencryptEndpoints(
  database: Kysely<DB>,
  encryption: Encryption,
  currentVersion: number,
): Promise<number> {
  return runInTransactions(database, async (transaction, limit) => {
    const rows = await lockEncryptedWithOtherKey(transaction, currentVersion, limit);
    for (const { id, encrypted_secret, encrypted_next_secret: next } of rows) {
      await updateEndpoint(transaction, id, {
        encrypted_secret: encryption.reencrypt(encrypted_secret, endpointSecretOwner(id)),
        encrypted_next_secret: next === null ? null : encryption.reencrypt(next, nextSecretOwner(id)),
      });
    }
    return rows.length;
  });
}
