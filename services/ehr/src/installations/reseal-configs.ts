import { inBatches, type Seal } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { configOwner } from "./installation.ts";
import { lockSealedOtherwise, updateSealedConfig } from "./installation-store.ts";

/** Configurations, those of removed installations included: whoever subscribes again has them back. */
export function resealConfigs(database: Kysely<DB>, seal: Seal, currentVersion: number): Promise<number> {
  return inBatches(database, async (transaction, most) => {
    const rows = await lockSealedOtherwise(transaction, currentVersion, most);
    for (const { id, sealed_config } of rows) {
      await updateSealedConfig(transaction, id, seal.again(sealed_config, configOwner(id)));
    }
    return rows.length;
  });
}
