import { registerGauge } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import { Counter, type Registry } from "prom-client";
import type { DB } from "../database-schema.ts";
import { countUnlisted, longestUnreconciledMs } from "../organisations/reconciliation-state.ts";

/** Counts the corrections that this process makes. */
export function createCorrectionCounter(registry: Registry): (count: number) => void {
  const corrections = new Counter({
    name: "subscriptions_corrected_total",
    help: "Stored states that claimed to be as new as the marketplace's list, contradicted it, and were replaced",
    registers: [registry],
  });
  return (count) => corrections.inc(count);
}

/** Counts the records that this process skips. */
export function createSkippedCounter(registry: Registry): (count: number) => void {
  const skipped = new Counter({
    name: "subscriptions_skipped_total",
    help: "Invalid records of the marketplace's list of subscriptions, which reconciliation skipped",
    registers: [registry],
  });
  return (count) => skipped.inc(count);
}

/** Every process reports the same values, since all read one database. */
export function registerReconciliationMetrics(registry: Registry, database: Kysely<DB>, clock: () => Date): void {
  registerGauge(
    registry,
    "reconciliation_oldest_seconds",
    "Seconds since the least recently reconciled organisation was reconciled or created",
    async () => (await longestUnreconciledMs(database, clock())) / 1_000,
  );
  registerGauge(
    registry,
    "subscriptions_unlisted",
    "Installed subscriptions that the marketplace's list lacked at the last reconciliation",
    () => countUnlisted(database),
  );
}
