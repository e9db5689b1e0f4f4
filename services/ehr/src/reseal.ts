import { runReseal } from "@ehr-marketplace/service-kit/secrets";
import type { DB } from "./database-schema.ts";
import { resealConfigs } from "./installations/reseal-configs.ts";
import { resealSecrets } from "./organisations/reseal-secrets.ts";

await runReseal<DB>("ehr-reseal", [resealSecrets, resealConfigs]);
