import {
  type ReceivedSubscriptionEvent,
  receivedSubscriptionEvent,
  type SubscriptionEventName,
  subscriptionEventNames,
} from "@ehr-marketplace/contracts";
import { findNul, nestsTooDeep } from "@ehr-marketplace/service-kit/http";
import { wireReader } from "../wire-validation.ts";

/** What a subscription is after each event. */
const statusAfter: Record<SubscriptionEventName, ReceivedSubscriptionEvent["subscription"]["status"]> = {
  "subscription.created": "active",
  "subscription.paused": "paused",
  "subscription.resumed": "active",
  "subscription.cancelled": "cancelled",
};

const knownNames = new Set<unknown>(subscriptionEventNames);

/** Nothing of it may be used but the alias, until its bytes are verified. A body that nests too deep counts as no JSON. */
export function parseBody(body: Buffer): unknown {
  const text = body.toString("utf8");
  if (nestsTooDeep(text)) return undefined;
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

/** Whose event it says it is. */
export function aliasIn(parsed: unknown): unknown {
  return fieldOf(fieldOf(parsed, "subscription"), "orgAlias");
}

export interface ReceivedEvent extends ReceivedSubscriptionEvent {
  occurredAt: Date;
}

const read = wireReader<ReceivedSubscriptionEvent>(receivedSubscriptionEvent);

/** An event of ours, the name of one that we don't know, or what is wrong with it. */
export function readEvent(parsed: unknown): { event: ReceivedEvent } | { unknown: string } | { wrong: string } {
  const name = fieldOf(parsed, "event");
  if (typeof name === "string" && !knownNames.has(name)) return { unknown: name };
  const nul = findNul(parsed, "body");
  if (nul !== undefined) return { wrong: `${nul} contains a NUL character` };
  const result = read(parsed);
  if ("wrong" in result) return { wrong: `/body${result.wrong}` };
  const event = result.read;
  if (event.subscription.status !== statusAfter[event.event]) {
    return { wrong: `/body/subscription/status is not what ${event.event} leaves` };
  }
  const occurredAt = new Date(event.timestamp);
  if (Number.isNaN(occurredAt.getTime())) return { wrong: "/body/timestamp is no time" };
  return { event: { ...event, occurredAt } };
}
