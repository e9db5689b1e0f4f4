import type { EventApp, SubscriptionEvent, SubscriptionEventName } from "@ehr-marketplace/contracts";

export interface SubscriptionChange {
  event: SubscriptionEventName;
  app: EventApp;
  subscription: { id: string; status: SubscriptionEvent["subscription"]["status"]; orgAlias: string };
  pauseReason: string | null;
  organisationId: string;
  vendorId: string;
  /** Position among the subscription's events, from 1. */
  sequence: number;
  occurredAt: Date;
}

/** Timestamps have milliseconds in JSON, so two events of one subscription are at least one apart. */
export function nextInstant(now: Date, last: Date): Date {
  return new Date(Math.max(now.getTime(), last.getTime() + 1));
}

/** Built once: every attempt sends these bytes to every recipient, also after the app or the subscription has changed. */
export function payloadOf(change: SubscriptionChange): string {
  const { id, status, orgAlias } = change.subscription;
  const payload: SubscriptionEvent = {
    event: change.event,
    app: change.app,
    subscription: {
      id,
      status,
      orgAlias,
      ...(change.event === "subscription.paused" && change.pauseReason !== null
        ? { pauseReason: change.pauseReason }
        : {}),
    },
    timestamp: change.occurredAt.toISOString(),
  };
  return JSON.stringify(payload);
}
