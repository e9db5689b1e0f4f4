import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { previousSecretOwner, secretOwner } from "./organisation.ts";
import { findSecrets } from "./organisation-store.ts";

/** What the marketplace may have signed with: the secret, and the one before while it is still good. None: nobody knows the alias. */
export async function findLiveSecrets(database: Kysely<DB>, seal: Seal, alias: string, now: Date): Promise<string[]> {
  const row = await findSecrets(database, alias);
  if (row === undefined) return [];
  const secrets = [seal.open(row.sealed_secret, secretOwner(alias))];
  if (row.sealed_previous_secret !== null && row.previous_until !== null && row.previous_until > now) {
    secrets.push(seal.open(row.sealed_previous_secret, previousSecretOwner(alias)));
  }
  return secrets;
}
