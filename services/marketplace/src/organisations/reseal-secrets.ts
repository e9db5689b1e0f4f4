import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { secretOwner } from "./organisation.ts";
import { lockSealedOtherwise, updateOrganisation } from "./organisation-store.ts";

const batch = 100;

/** Seals with the newest key what was sealed with an older one. Safe to stop, to repeat, and beside running processes. */
export async function resealSecrets(database: Kysely<DB>, seal: Seal, currentVersion: number): Promise<number> {
  for (let resealed = 0; ; ) {
    const done = await database.transaction().execute(async (transaction) => {
      const rows = await lockSealedOtherwise(transaction, currentVersion, batch);
      for (const { id, sealed_secret } of rows) {
        const owner = secretOwner(id);
        await updateOrganisation(transaction, id, {
          sealed_secret: seal.close(seal.open(sealed_secret, owner), owner),
        });
      }
      return rows.length;
    });
    resealed += done;
    if (done < batch) return resealed;
  }
}
