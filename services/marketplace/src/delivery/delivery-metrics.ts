import { registerGauge } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import { Counter, Histogram, type Registry } from "prom-client";
import type { DB } from "../database-schema.ts";
import { countRecipients, type RecipientCounts } from "../recipients/read-health.ts";
import type { AttemptResult } from "./attempt-result.ts";
import type { ClaimedDelivery } from "./claim-store.ts";
import { countDue, type DueDeliveries } from "./sweep-store.ts";

export type Backlog = DueDeliveries & RecipientCounts;

/** Reads all unsettled deliveries; the caller caches the result. */
export async function readBacklog(database: Kysely<DB>): Promise<Backlog> {
  return { ...(await countDue(database)), ...(await countRecipients(database)) };
}

/** Counting reads every unsettled delivery, possibly millions of rows, so scrapes share one result for this long. */
const backlogMaxAgeMs = 15_000;

export interface DeliveryMetrics {
  recordAttempt(delivery: ClaimedDelivery, result: AttemptResult, now: Date): void;
  recordSwept(found: number): void;
}

/** No label names a recipient: 250,000 label values are too many, and they would identify practices. */
export function createDeliveryMetrics(
  registry: Registry,
  countBacklog: () => Promise<Backlog>,
  elapsedMs: () => number = () => performance.now(),
): DeliveryMetrics {
  const attempts = new Counter({
    name: "webhook_attempts_total",
    help: "Attempts to deliver, by kind of recipient and outcome",
    labelNames: ["kind", "outcome"],
    registers: [registry],
  });
  const latency = new Histogram({
    name: "webhook_commit_to_delivered_seconds",
    help: "Time from an event's commit to its delivery, for those that needed one attempt",
    labelNames: ["kind"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3_600],
    registers: [registry],
  });
  const swept = new Counter({
    name: "webhook_swept_total",
    help: "Due deliveries without a job, and held recipients and origins without a probe, that the sweep found; it should stay 0",
    registers: [registry],
  });
  let backlog: Promise<Backlog> | undefined;
  let staleAt = 0;
  const readCachedBacklog = (): Promise<Backlog> => {
    if (backlog !== undefined && elapsedMs() < staleAt) return backlog;
    // While a count is running, callers wait for it instead of starting another.
    staleAt = Number.POSITIVE_INFINITY;
    backlog = countBacklog().then(
      (read) => {
        staleAt = elapsedMs() + backlogMaxAgeMs;
        return read;
      },
      (error: unknown) => {
        staleAt = 0;
        throw error;
      },
    );
    return backlog;
  };
  const gauge = (name: string, help: string, value: (now: Backlog) => number): void =>
    registerGauge(registry, name, help, async () => value(await readCachedBacklog()));
  gauge("webhook_deliveries_waiting", "Deliveries that wait as rows", (now) => now.waiting);
  gauge("webhook_deliveries_queued", "Deliveries that have a job", (now) => now.queued);
  gauge(
    "webhook_recipients_held",
    "Recipients that are held by themselves, without organisations that have no callback",
    (now) => now.held,
  );
  gauge("webhook_recipients_disabled", "Endpoints that are disabled, including deleted ones", (now) => now.disabled);
  gauge("webhook_oldest_undelivered_seconds", "Age of the oldest delivery that is due", (now) => now.oldestSeconds);

  return {
    recordAttempt({ kind, created_at, attempt }, { outcome }, now) {
      attempts.inc({ kind, outcome });
      if (outcome === "delivered" && attempt === 1)
        latency.observe({ kind }, (now.getTime() - created_at.getTime()) / 1_000);
    },
    recordSwept: (found) => swept.inc(found),
  };
}
