import { inTransactions } from "@ehr-marketplace/service-kit/database";
import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { previousSecretOwner, secretOwner } from "./organisation.ts";
import { lockSealedOtherwise, updateOrganisation } from "./organisation-store.ts";

/** The secret and, while it overlaps, the one before. */
export function resealSecrets(database: Kysely<DB>, seal: Seal, currentVersion: number): Promise<number> {
  return inTransactions(database, async (transaction, most) => {
    const rows = await lockSealedOtherwise(transaction, currentVersion, most);
    for (const { alias, sealed_secret, sealed_previous_secret: previous } of rows) {
      await updateOrganisation(transaction, alias, {
        sealed_secret: seal.again(sealed_secret, secretOwner(alias)),
        sealed_previous_secret: previous === null ? null : seal.again(previous, previousSecretOwner(alias)),
      });
    }
    return rows.length;
  });
}
