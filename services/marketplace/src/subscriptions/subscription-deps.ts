import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { KeyedDigest } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { UsageLimits } from "../billing/usage-limits.ts";
import type { DB } from "../database-schema.ts";

/** What the use cases of subscriptions need. */
export interface SubscriptionDeps {
  database: Kysely<DB>;
  clock: () => Date;
  queue: Queue;
  bodyDigest: KeyedDigest;
  usageLimits: UsageLimits;
}
