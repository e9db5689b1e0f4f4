import type { OutboundResult } from "@ehr-marketplace/outbound-http";
import type { Reachability } from "../recipients/record-results.ts";

export interface AttemptResult {
  outcome: "delivered" | "failed";
  statusCode: number | null;
  /** Shown to vendors in the delivery log. */
  error: string | null;
  snippet: string | null;
  durationMs: number;
  retryAfterMs: number | null;
  /** The receiver responded 410 Gone. */
  gone: boolean;
  reachability: Reachability;
}

const unreachableStatusCodes = new Set([502, 503, 504]);
const unreachableReasons = new Set<string>([
  "connection-refused",
  "connection-reset",
  "connection-closed",
  "timed-out",
  "unreachable",
]);

/** Only a 2xx is success. */
export function toAttemptResult(result: OutboundResult): AttemptResult {
  if (result.outcome === "failed") {
    const error = `${result.stage}: ${result.reason}`;
    const { statusCode, durationMs } = result;
    const reachability = unreachableReasons.has(result.reason) ? "unreachable" : "unknown";
    return {
      outcome: "failed",
      statusCode,
      error,
      snippet: null,
      durationMs,
      retryAfterMs: null,
      gone: false,
      reachability,
    };
  }
  const { statusCode, snippet, durationMs, retryAfterMs } = result;
  const delivered = statusCode >= 200 && statusCode <= 299;
  return {
    outcome: delivered ? "delivered" : "failed",
    statusCode,
    error: delivered ? null : `answered ${statusCode}`,
    snippet: snippet === "" ? null : snippet,
    durationMs,
    retryAfterMs,
    gone: statusCode === 410,
    reachability: unreachableStatusCodes.has(statusCode) ? "unreachable" : "responded",
  };
}

/** The events that the specification names: every EHR knows them. */
const specifiedEvents = new Set([
  "subscription.created",
  "subscription.cancelled",
  "subscription.paused",
  "usage.reported",
]);
/** They say that the EHR, or what is in front of it, can't accept any request now. */
const overloadStatusCodes = new Set([408, 429, 502, 503, 504]);
/** They say that the EHR will refuse each retry. */
const finalStatusCodes = new Set([400, 404, 405, 422]);
const maxRefusals = 3;

/**
 * How many failures fail a delivery that an EHR refuses because it is written from the specification alone, and the specification doesn't
 * name the event. Such a refusal never counts against the EHR, whatever its status. Undefined if this isn't one.
 */
export function refusalsToFail(
  { kind, event }: { kind: "endpoint" | "ehr"; event: string },
  { statusCode }: Pick<AttemptResult, "statusCode">,
): number | undefined {
  if (kind !== "ehr" || specifiedEvents.has(event)) return undefined;
  // A 2xx whose body failed isn't a refusal.
  if (statusCode === null || (statusCode >= 200 && statusCode <= 299) || overloadStatusCodes.has(statusCode))
    return undefined;
  return finalStatusCodes.has(statusCode) ? 1 : maxRefusals;
}

const maxTrackedOrigins = 10_000;

/**
 * Remembers when the host of each callback origin last responded to this worker. A request that found no response while the host responded
 * to another practice says nothing about the host, only about its own practice. Without this, a few practices that hang hold a busy host,
 * because time-outs and responses aren't settled in the order in which they happened.
 */
export function createResponseTracker(now: () => number = () => performance.now()) {
  const lastResponses = new Map<string, number>();
  return {
    /** `startedAt` is the time of the request, by the same clock. */
    classify(origin: string | null, startedAt: number, result: AttemptResult): AttemptResult {
      if (origin === null) return result;
      if (result.reachability === "responded") {
        // Inserted again, so that the first entry is the one that hasn't responded for the longest time.
        lastResponses.delete(origin);
        lastResponses.set(origin, now());
        const [oldest] = lastResponses.keys();
        if (lastResponses.size > maxTrackedOrigins && oldest !== undefined) lastResponses.delete(oldest);
        return result;
      }
      const hasResponded = (lastResponses.get(origin) ?? -Infinity) >= startedAt;
      return hasResponded ? { ...result, reachability: "unknown" } : result;
    },
  };
}
