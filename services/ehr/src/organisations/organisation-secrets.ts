import { runInBatches } from "@ehr-marketplace/service-kit/database";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { previousSecretOwner, secretOwner } from "./organisation.ts";
import { clearExpiredPreviousSecrets, findSecrets } from "./organisation-store.ts";

/** The secret and, during an overlap, the previous secret. Empty for an unknown alias. */
export async function findLiveSecrets(
  database: Kysely<DB>,
  encryption: Encryption,
  alias: string,
  now: Date,
): Promise<string[]> {
  const row = await findSecrets(database, alias);
  if (row === undefined) return [];
  const secrets = [encryption.decrypt(row.encrypted_secret, secretOwner(alias))];
  if (row.encrypted_previous_secret !== null && row.previous_until !== null && row.previous_until > now) {
    secrets.push(encryption.decrypt(row.encrypted_previous_secret, previousSecretOwner(alias)));
  }
  return secrets;
}

/** Deletes previous secrets whose overlap has ended. Returns the number of organisations. */
export function deleteExpiredSecrets(database: Kysely<DB>, now: Date): Promise<number> {
  return runInBatches((limit) => clearExpiredPreviousSecrets(database, now, limit));
}
