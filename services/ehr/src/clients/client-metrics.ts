import { registerGauge } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import { Gauge, type Registry } from "prom-client";
import type { DB } from "../database-schema.ts";
import { reasons } from "./client.ts";
import { countIncomplete, countTasks } from "./client-store.ts";

/** Nothing that an operator of the EHR could change. */
const ofOthers = [reasons.notSaid, reasons.notPublic, reasons.suspended];

/** Every process reports the same value, since all read one database. */
export function registerClientMetrics(registry: Registry, database: Kysely<DB>): void {
  registerGauge(registry, "client_tasks", "Clients at the authorization server that an operator has to act on", () =>
    countTasks(database),
  );
  new Gauge({
    name: "client_incomplete",
    help: "Clients that this service has not registered or removed yet, and that wait for nobody else",
    labelNames: ["status"],
    registers: [registry],
    async collect() {
      try {
        for (const { status, count } of await countIncomplete(database, ofOthers)) this.set({ status }, count);
      } catch {
        this.reset();
      }
    },
  });
}
