import {
  type ReceivedSubscriptionEvent,
  receivedSubscriptionEvent,
  type SubscriptionEventName,
  subscriptionEventNames,
} from "@ehr-marketplace/contracts";
import { describeNul, findUnstorable, isNestedTooDeep } from "@ehr-marketplace/service-kit/http";
import { createValidator } from "../create-validator.ts";
import { knownPauseReason, type PauseReason } from "../subscriptions/pause-reason.ts";

/** The status of a subscription after each event; `subscription.updated` doesn't change it. */
const statusesAfter: Record<SubscriptionEventName, readonly ReceivedSubscriptionEvent["subscription"]["status"][]> = {
  "subscription.created": ["active"],
  "subscription.paused": ["paused"],
  "subscription.resumed": ["active"],
  "subscription.updated": ["active", "paused"],
  "subscription.cancelled": ["cancelled"],
};

const knownNames = new Set<unknown>(subscriptionEventNames);

/** Until the signature is verified, only the alias may be used. A body that nests too deep counts as invalid JSON. */
export function parseBody(body: Buffer): unknown {
  const text = body.toString("utf8");
  if (isNestedTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/** The alias that the body claims, not verified yet. */
export function readAlias(parsed: unknown): unknown {
  return fieldOf(fieldOf(parsed, "subscription"), "orgAlias");
}

export interface ReceivedEvent extends ReceivedSubscriptionEvent {
  occurredAt: Date;
  /** Undefined for an event that isn't about a pause. */
  pauseReason: PauseReason | null | undefined;
}

const validateEvent = createValidator<ReceivedSubscriptionEvent>(receivedSubscriptionEvent);

/** Returns the event, the name of an unknown event, or the validation error. */
export function parseEvent(parsed: unknown): { event: ReceivedEvent } | { unknown: string } | { error: string } {
  const name = fieldOf(parsed, "event");
  if (typeof name === "string" && !knownNames.has(name)) return { unknown: name };
  // Half of a surrogate pair in a field that isn't used must not lose the event.
  const unstorable = findUnstorable(parsed, "body", describeNul);
  if (unstorable !== undefined) return { error: `${unstorable.pointer} ${unstorable.detail}` };
  const result = validateEvent(parsed);
  if ("error" in result) return { error: `/body${result.error}` };
  const event = result.value;
  if (!statusesAfter[event.event].includes(event.subscription.status)) {
    return { error: `/body/subscription/status is not the status after ${event.event}` };
  }
  const occurredAt = new Date(event.timestamp);
  if (Number.isNaN(occurredAt.getTime())) return { error: "/body/timestamp is not a time" };
  const pauseReason =
    event.event === "subscription.paused" ? knownPauseReason(event.subscription.pauseReason) : undefined;
  return { event: { ...event, occurredAt, pauseReason } };
}
