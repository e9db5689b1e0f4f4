import { runReencryption } from "@ehr-marketplace/service-kit/secrets";
import type { DB } from "./database-schema.ts";
import { reencryptSecrets } from "./organisations/reencrypt-secrets.ts";
import { reencryptEndpoints } from "./webhooks/endpoints/reencrypt-endpoints.ts";

await runReencryption<DB>("marketplace-reencrypt", [reencryptSecrets, reencryptEndpoints]);
