import type {
  RegisteredWebhookDto,
  WebhookDeliveryDto,
  WebhookDeliveryLog,
  WebhookEndpointDto,
} from "@ehr-marketplace/contracts";
import { isRotating } from "./endpoint.ts";
import type { AttemptRow, DeliveryRow, EndpointRow } from "./endpoint-store.ts";

const toIsoString = (given: Date | null): string | null => given?.toISOString() ?? null;

export function registeredRecord(row: EndpointRow): RegisteredWebhookDto {
  return {
    id: row.id,
    url: row.url,
    events: row.events as RegisteredWebhookDto["events"],
    status: row.status as RegisteredWebhookDto["status"],
    createdAt: row.created_at.toISOString(),
  };
}

export function endpointRecord(row: EndpointRow, now: Date): WebhookEndpointDto {
  return {
    ...registeredRecord(row),
    disabledReason: row.disabled_reason,
    heldSince: row.status === "active" ? null : toIsoString(row.held_since),
    nextProbeAt: toIsoString(row.next_probe_at),
    rotation: row.promote_at !== null && isRotating(row, now) ? { promotesAt: row.promote_at.toISOString() } : null,
  };
}

export function deliveryRecord(row: DeliveryRow): WebhookDeliveryDto {
  return {
    id: row.id,
    eventId: row.event_id,
    event: row.event,
    status: row.status as WebhookDeliveryDto["status"],
    attempts: row.attempts,
    failures: row.failures,
    nextAttemptAt: toIsoString(row.next_attempt_at),
    createdAt: row.created_at.toISOString(),
    settledAt: toIsoString(row.settled_at),
    subscriptionId: row.subscription_id,
  };
}

export function attemptRecord(row: AttemptRow, delivery: DeliveryRow): WebhookDeliveryLog {
  return {
    id: row.id,
    deliveryId: delivery.id,
    eventId: delivery.event_id,
    event: delivery.event,
    recipient: { kind: "endpoint", id: row.recipient_id, url: row.url },
    attempt: row.attempt,
    startedAt: row.started_at.toISOString(),
    durationMs: row.duration_ms,
    outcome: row.outcome as WebhookDeliveryLog["outcome"],
    statusCode: row.status_code,
    error: row.error,
    responseSnippet: row.response_snippet,
    nextAttemptAt: toIsoString(row.next_attempt_at),
  };
}
