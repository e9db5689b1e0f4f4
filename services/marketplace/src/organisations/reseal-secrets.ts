import { inTransactions } from "@ehr-marketplace/service-kit/database";
import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { secretOwner } from "./organisation.ts";
import { lockSealedOtherwise, updateOrganisation } from "./organisation-store.ts";

/** Seals with the first key what was sealed with another. Safe to stop, to repeat, and beside running processes. */
export function resealSecrets(database: Kysely<DB>, seal: Seal, currentVersion: number): Promise<number> {
  return inTransactions(database, async (transaction, most) => {
    const rows = await lockSealedOtherwise(transaction, currentVersion, most);
    for (const { id, sealed_secret } of rows) {
      await updateOrganisation(transaction, id, { sealed_secret: seal.again(sealed_secret, secretOwner(id)) });
    }
    return rows.length;
  });
}
