import { inTransactions } from "@ehr-marketplace/service-kit/database";
import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { DB } from "../../database-schema.ts";
import { endpointSecretOwner, nextSecretOwner } from "./endpoint.ts";
import { lockSealedOtherwise, updateEndpoint } from "./endpoint-store.ts";

/** The same for endpoints, whose next secret is sealed as well. */
export function resealEndpoints(database: Kysely<DB>, seal: Seal, currentVersion: number): Promise<number> {
  return inTransactions(database, async (transaction, most) => {
    const rows = await lockSealedOtherwise(transaction, currentVersion, most);
    for (const { id, sealed_secret, sealed_next_secret: next } of rows) {
      await updateEndpoint(transaction, id, {
        sealed_secret: seal.again(sealed_secret, endpointSecretOwner(id)),
        sealed_next_secret: next === null ? null : seal.again(next, nextSecretOwner(id)),
      });
    }
    return rows.length;
  });
}
