import { gaugeOf } from "@ehr-marketplace/service-kit/telemetry";
import { Counter, Histogram, type Registry } from "prom-client";
import type { ClaimedDelivery } from "./claim-store.ts";
import type { Verdict } from "./judge.ts";

export interface Backlog {
  waiting: number;
  queued: number;
  held: number;
  disabled: number;
  oldestSeconds: number;
}

/** Counting reads all that is due, which may be millions of rows: that doesn't happen as often as somebody asks. */
const backlogLastsMs = 15_000;

export interface DeliveryMetrics {
  attempted(delivery: ClaimedDelivery, verdict: Verdict, now: Date): void;
  swept(found: number): void;
}

/** No label names a recipient: there are a quarter of a million of them, and they are people's practices. */
export function createDeliveryMetrics(
  registry: Registry,
  readBacklog: () => Promise<Backlog>,
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
    help: "Deliveries that had lost their job and were found by the sweep; it should stay 0",
    registers: [registry],
  });
  let backlog: Promise<Backlog> | undefined;
  let staleAt = 0;
  const measured = (): Promise<Backlog> => {
    if (backlog !== undefined && elapsedMs() < staleAt) return backlog;
    // Not while it is being read: a slow count is waited for, not begun again.
    staleAt = Number.POSITIVE_INFINITY;
    backlog = readBacklog().then(
      (read) => {
        staleAt = elapsedMs() + backlogLastsMs;
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
    gaugeOf(registry, name, help, async () => value(await measured()));
  gauge("webhook_deliveries_waiting", "Deliveries that wait as rows", (now) => now.waiting);
  gauge("webhook_deliveries_queued", "Deliveries that have a job", (now) => now.queued);
  gauge("webhook_recipients_held", "Recipients that are held", (now) => now.held);
  gauge("webhook_recipients_disabled", "Endpoints that are disabled", (now) => now.disabled);
  gauge("webhook_oldest_undelivered_seconds", "Age of the oldest delivery that is due", (now) => now.oldestSeconds);

  return {
    attempted({ kind, created_at, attempt }, { outcome }, now) {
      attempts.inc({ kind, outcome });
      if (outcome === "delivered" && attempt === 1)
        latency.observe({ kind }, (now.getTime() - created_at.getTime()) / 1_000);
    },
    swept: (found) => swept.inc(found),
  };
}
