import { registerGauge } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { Registry } from "prom-client";
import type { DB } from "../database-schema.ts";
import { countEhrsHeldBefore, readHealthRow } from "./health-store.ts";
import { countHeldOrigins } from "./origin-store.ts";
import { heldTooLongBefore, secondsSince } from "./read-health.ts";

/** Gauges for alerts that are read from the database; every worker reports the same values. */
export function registerHealthMetrics(registry: Registry, database: Kysely<DB>, clock: () => Date): void {
  const gauge = (name: string, help: string, read: (now: Date) => Promise<number>): void =>
    registerGauge(registry, name, help, () => read(clock()));
  let reading: ReturnType<typeof readHealthRow> | undefined;
  const health = (now: Date): ReturnType<typeof readHealthRow> => {
    reading ??= readHealthRow(database, now).finally(() => setImmediate(() => (reading = undefined)));
    return reading;
  };
  gauge(
    "webhook_behind_seconds",
    "Seconds for which the next delivery to send has been ready; 0 when there is none",
    async (now) => secondsSince((await health(now)).ready_since, now) ?? 0,
  );
  gauge(
    "webhook_failed_last_day",
    "Deliveries that failed permanently, or expired, in the last 24 hours; counted up to 10,001",
    async (now) => (await health(now)).failed_last_day,
  );
  gauge(
    "webhook_ehrs_held_too_long",
    "EHRs with a callback that have been held, by themselves or with their origin, for over an hour",
    (now) => countEhrsHeldBefore(database, heldTooLongBefore(now)),
  );
  gauge("webhook_origins_held", "Callback origins that are held: hosts to which only probes are sent", () =>
    countHeldOrigins(database),
  );
}
