import { runReencryption } from "@ehr-marketplace/service-kit/secrets";
import { reencryptRegistrationTokens } from "./clients/reencrypt-registration-tokens.ts";
import type { DB } from "./database-schema.ts";
import { encryptedColumns } from "./encrypted-columns.ts";
import { reencryptConfigs } from "./installations/reencrypt-configs.ts";
import { reencryptSecrets } from "./organisations/reencrypt-secrets.ts";

await runReencryption<DB>("ehr-reencrypt", encryptedColumns, [
  reencryptSecrets,
  reencryptConfigs,
  reencryptRegistrationTokens,
]);
