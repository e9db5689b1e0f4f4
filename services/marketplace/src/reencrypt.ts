import { runReencryption } from "@ehr-marketplace/service-kit/secrets";
import type { DB } from "./database-schema.ts";
import { reencryptEndpoints } from "./endpoints/reencrypt-endpoints.ts";
import { reencryptSecrets } from "./organisations/reencrypt-secrets.ts";

await runReencryption<DB>("marketplace-reencrypt", [reencryptSecrets, reencryptEndpoints]);
