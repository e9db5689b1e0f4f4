import { registerGauge } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { Registry } from "prom-client";
import type { DB } from "../database-schema.ts";
import { countDifferences } from "./difference-store.ts";
import { countQuarantined } from "./subscription-store.ts";

/** Every process reports the same value, since all read one database. */
export function registerSubscriptionMetrics(registry: Registry, database: Kysely<DB>): void {
  registerGauge(
    registry,
    "subscriptions_quarantined",
    "Live subscriptions to apps that the marketplace's catalog doesn't have, and that it never listed",
    () => countQuarantined(database),
  );
  registerGauge(
    registry,
    "subscriptions_withheld",
    "Subscriptions that the marketplace's list would revive since it was restored, and that wait for an operator",
    () => countDifferences(database),
  );
}
