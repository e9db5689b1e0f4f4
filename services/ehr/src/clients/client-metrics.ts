import { registerGauge } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { Registry } from "prom-client";
import type { DB } from "../database-schema.ts";
import { countTasks } from "./client-store.ts";

/** Every process reports the same value, since all read one database. */
export function registerClientMetrics(registry: Registry, database: Kysely<DB>): void {
  registerGauge(registry, "client_tasks", "Clients at the authorization server that an operator has to act on", () =>
    countTasks(database),
  );
}
