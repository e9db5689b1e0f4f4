import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { DB } from "../../database-schema.ts";
import { endpointSecretOwner, nextSecretOwner } from "./endpoint.ts";
import { lockSealedOtherwise, updateSealed } from "./endpoint-store.ts";

const batch = 100;

/** Seals endpoints' secrets with the first key, as is done for organisations. Safe to stop and to repeat. */
export async function resealEndpoints(database: Kysely<DB>, seal: Seal, currentVersion: number): Promise<number> {
  for (let resealed = 0; ; ) {
    const done = await database.transaction().execute(async (transaction) => {
      const rows = await lockSealedOtherwise(transaction, currentVersion, batch);
      for (const { id, sealed_secret, sealed_next_secret: next } of rows) {
        const again = (sealed: string, owner: string): string => seal.close(seal.open(sealed, owner), owner);
        await updateSealed(transaction, id, {
          sealed_secret: again(sealed_secret, endpointSecretOwner(id)),
          sealed_next_secret: next === null ? null : again(next, nextSecretOwner(id)),
        });
      }
      return rows.length;
    });
    resealed += done;
    if (done < batch) return resealed;
  }
}
