import { inTransactions } from "@ehr-marketplace/service-kit/database";
import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { configOwner } from "./installation.ts";
import { lockSealedOtherwise, updateInstallation } from "./installation-store.ts";

/** Configurations, those of removed installations included: whoever subscribes again has them back. */
export function resealConfigs(database: Kysely<DB>, seal: Seal, currentVersion: number): Promise<number> {
  return inTransactions(database, async (transaction, most) => {
    const rows = await lockSealedOtherwise(transaction, currentVersion, most);
    for (const { id, sealed_config } of rows) {
      // It is the same configuration: nothing has changed for anybody, so neither has its time.
      await updateInstallation(transaction, id, { sealed_config: seal.again(sealed_config, configOwner(id)) });
    }
    return rows.length;
  });
}
