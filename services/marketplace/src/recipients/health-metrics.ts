import { registerGauge } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { Registry } from "prom-client";
import type { DB } from "../database-schema.ts";
import { countEhrs, readHealthRow } from "./health-store.ts";
import { countHeldOrigins } from "./origin-store.ts";
import { heldTooLongBefore, secondsSince } from "./read-health.ts";

/** The gauges of one scrape share what is read. */
function readOnce<Read>(read: (now: Date) => Promise<Read>): typeof read {
  let reading: Promise<Read> | undefined;
  return (now) => {
    reading ??= read(now).finally(() => setImmediate(() => (reading = undefined)));
    return reading;
  };
}

/** Gauges for alerts that are read from the database; every worker reports the same values. */
export function registerHealthMetrics(registry: Registry, database: Kysely<DB>, clock: () => Date): void {
  const gauge = (name: string, help: string, read: (now: Date) => Promise<number>): void =>
    registerGauge(registry, name, help, () => read(clock()));
  const health = readOnce((now) => readHealthRow(database, now));
  const ehrs = readOnce((now) => countEhrs(database, heldTooLongBefore(now)));
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
  gauge("webhook_ehrs", "EHRs with a callback", async (now) => (await ehrs(now)).all);
  gauge(
    "webhook_ehrs_held",
    "EHRs with a callback that are held, by themselves or with their origin",
    async (now) => (await ehrs(now)).held,
  );
  gauge(
    "webhook_ehrs_held_too_long",
    "EHRs with a callback that have been held, by themselves or with their origin, for over an hour",
    async (now) => (await ehrs(now)).heldTooLong,
  );
  gauge("webhook_origins_held", "Callback origins that are held: hosts to which only probes are sent", () =>
    countHeldOrigins(database),
  );
}
