import { registerGauge } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { Registry } from "prom-client";
import type { DB } from "../database-schema.ts";
import { closesAt } from "./statement-month.ts";
import { findStatementMonths } from "./statement-month-store.ts";

export function registerStatementMetrics(registry: Registry, database: Kysely<DB>, clock: () => Date): void {
  const findUnclosed = async () =>
    (await findStatementMonths(database)).filter(({ status }) => status === "open" || status === "closing");
  registerGauge(
    registry,
    "marketplace_statement_months_overdue",
    "Months that are due to be closed and are not",
    async () => (await findUnclosed()).filter(({ month }) => closesAt(month) <= clock()).length,
  );
  registerGauge(
    registry,
    "marketplace_statement_subscriptions_done",
    "Subscriptions that were charged so far of the month that is being closed; 0 if none is",
    async () => (await findUnclosed()).find(({ status }) => status === "closing")?.done ?? 0,
  );
}
