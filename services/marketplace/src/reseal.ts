import { runReseal } from "@ehr-marketplace/service-kit/secrets";
import type { DB } from "./database-schema.ts";
import { resealSecrets } from "./organisations/reseal-secrets.ts";
import { resealEndpoints } from "./webhooks/endpoints/reseal-endpoints.ts";

await runReseal<DB>("marketplace-reseal", [resealSecrets, resealEndpoints]);
