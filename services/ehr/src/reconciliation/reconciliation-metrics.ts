import { gaugeOf } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import { Counter, type Registry } from "prom-client";
import type { DB } from "../database-schema.ts";
import { countUnlisted, longestUnreconciledMs } from "../organisations/hold-organisation.ts";

/** Of this process: each correction is made by one. */
export function createCorrectionCounter(registry: Registry): (count: number) => void {
  const corrections = new Counter({
    name: "subscriptions_corrected_total",
    help: "Stored states that contradicted the marketplace's list at least as new as it, and were replaced by it",
    registers: [registry],
  });
  return (count) => corrections.inc(count);
}

/** Every process tells the same, since all read one database. */
export function watchReconciliation(registry: Registry, database: Kysely<DB>, clock: () => Date): void {
  gaugeOf(
    registry,
    "reconciliation_oldest_seconds",
    "How long ago the organisation that has waited longest was held against the marketplace's list, or became known",
    async () => (await longestUnreconciledMs(database, clock())) / 1_000,
  );
  gaugeOf(
    registry,
    "subscriptions_unlisted",
    "Installed subscriptions that the marketplace's list lacked at the last reconciliation",
    () => countUnlisted(database),
  );
}
