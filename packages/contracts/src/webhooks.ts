import { type Static, Type } from "typebox";
import { noNulPattern } from "./catalog-requests.ts";
import { subscriptionEventNames } from "./events.ts";
import { nextCursor, type PageQuery, pageQuery } from "./paging.ts";
import { instant, nullable, requestTime, uuid, warnings } from "./wire-types.ts";

export const webhookEventNames = [
  ...subscriptionEventNames,
  "connection.updated",
  "usage.reported",
  "app.updated",
  "ping",
] as const;
export type WebhookEventName = (typeof webhookEventNames)[number];

export const endpointStatuses = ["active", "held", "disabled"] as const;
export const deliveryStatuses = ["waiting", "queued", "delivered", "failed", "expired", "dropped"] as const;

const endpointUrl = Type.String({
  format: "uri",
  maxLength: 2048,
  pattern: noNulPattern,
  description: "URL that deliveries are posted to: https, at a public address",
  examples: ["https://hooks.northwind-health.example/marketplace"],
});

/** Shorter secrets can be guessed. */
const signingSecret = Type.String({
  minLength: 16,
  maxLength: 256,
  pattern: noNulPattern,
  description: "Signs deliveries. After the prefix `whsec_` it must be Base64 of at least 16 bytes",
});

// With the type, the validator checks `uniqueItems` by hashing; without it, it compares all pairs.
const eventNames = Type.Array(Type.Enum([...webhookEventNames], { type: "string" }), {
  minItems: 1,
  maxItems: webhookEventNames.length,
  uniqueItems: true,
  description: "Events to deliver",
  examples: [["subscription.created", "subscription.cancelled"]],
});

export const registerWebhookBody = Type.Object(
  { url: endpointUrl, secret: signingSecret, events: eventNames },
  { additionalProperties: false },
);
export type RegisterWebhookBody = Static<typeof registerWebhookBody>;

export const updateWebhookBody = Type.Object(
  { url: Type.Optional(endpointUrl), events: Type.Optional(eventNames) },
  { additionalProperties: false, minProperties: 1 },
);
export type UpdateWebhookBody = Static<typeof updateWebhookBody>;

export const rotateSecretBody = Type.Object({ secret: signingSecret }, { additionalProperties: false });
export type RotateSecretBody = Static<typeof rotateSecretBody>;

export const webhookParams = Type.Object({ id: uuid("The endpoint's identifier") });
export const webhookDeliveryParams = Type.Object({
  id: uuid("The endpoint's identifier"),
  deliveryId: uuid("The delivery's identifier"),
});

const registered = {
  id: uuid("Endpoint identifier"),
  url: Type.String({ format: "uri", description: "URL that deliveries are posted to" }),
  events: Type.Array(Type.Enum([...webhookEventNames]), { description: "Events that are delivered" }),
  status: Type.Enum([...endpointStatuses], {
    description:
      "`held`: deliveries keep failing, so only periodic probes are sent. `disabled`: nothing is sent until the endpoint is enabled",
  }),
  createdAt: instant("Registered"),
  warnings,
};

export const registeredWebhookDto = Type.Object(registered, {
  $id: "RegisteredWebhookDto",
  title: "RegisteredWebhookDto",
});
export type RegisteredWebhookDto = Static<typeof registeredWebhookDto>;

export const webhookEndpointDto = Type.Object(
  {
    ...registered,
    disabledReason: nullable(Type.String(), "Why the endpoint is disabled; null unless it is"),
    heldSince: nullable(instant("Held"), "Since when deliveries have been failing; null while the endpoint is active"),
    // Optional: the stored response to a repeated request may be of a version without it.
    nextProbeAt: Type.Optional(
      nullable(
        instant("When the next probe is due"),
        "When a held endpoint is tried next; null while a probe is in progress, and unless the endpoint is held",
      ),
    ),
    rotation: nullable(
      Type.Object({ promotesAt: instant("When the next secret is promoted automatically") }),
      "Set while there is a next secret and both sign; otherwise null",
    ),
  },
  { $id: "WebhookEndpointDto", title: "WebhookEndpointDto" },
);
export type WebhookEndpointDto = Static<typeof webhookEndpointDto>;

export const webhookEndpointPage = Type.Object(
  { items: Type.Array(Type.Ref("WebhookEndpointDto#"), { description: "Oldest first" }), next: nextCursor },
  { $id: "WebhookEndpointPage", title: "WebhookEndpointPage" },
);
export type WebhookEndpointPage = { items: WebhookEndpointDto[]; next: string | null };

export const listDeliveriesQuery = Type.Object({
  ...pageQuery.properties,
  status: Type.Optional(Type.Enum([...deliveryStatuses])),
  from: Type.Optional(requestTime("Only deliveries of events at this time or later")),
  to: Type.Optional(requestTime("Only deliveries of events before this time")),
});
export type ListDeliveriesQuery = Static<typeof listDeliveriesQuery> & PageQuery;

const delivery = {
  id: uuid("Delivery identifier: `X-Marketplace-Delivery-Id` of all its attempts"),
  eventId: uuid("Event identifier; other recipients have deliveries of the same event"),
  event: Type.String({ examples: ["subscription.created"] }),
  status: Type.Enum([...deliveryStatuses], {
    description:
      "`waiting`: behind an earlier delivery, or for the endpoint to recover. `queued`: being sent, or scheduled for a retry. `expired`: the endpoint was disabled for too long. `dropped`: the endpoint was deleted",
  }),
  attempts: Type.Integer({ minimum: 0 }),
  failures: Type.Integer({
    minimum: 0,
    description:
      "Failed attempts that count towards the limit, since the last redelivery or replay; probes don't count",
  }),
  nextAttemptAt: nullable(instant("When the next attempt is due"), "null unless one is scheduled"),
  createdAt: instant("The time of the event, also if a replay created the delivery later"),
  settledAt: nullable(instant("When the delivery reached a final status"), "null until then"),
  subscriptionId: nullable(uuid("The subscription of the event"), "null for events without a subscription"),
};

export const webhookDeliveryDto = Type.Object(delivery, { $id: "WebhookDeliveryDto", title: "WebhookDeliveryDto" });
export type WebhookDeliveryDto = Static<typeof webhookDeliveryDto>;

export const webhookDeliveryDetailDto = Type.Object(
  {
    ...delivery,
    payload: Type.String({
      description: "The exact body of every attempt, which `X-Marketplace-Signature` signs",
      examples: ['{"event":"ping","timestamp":"2026-03-18T09:30:00.000Z"}'],
    }),
  },
  { $id: "WebhookDeliveryDetailDto", title: "WebhookDeliveryDetailDto" },
);
export type WebhookDeliveryDetailDto = Static<typeof webhookDeliveryDetailDto>;

export const webhookDeliveryPage = Type.Object(
  {
    items: Type.Array(Type.Ref("WebhookDeliveryDto#"), { description: "By `createdAt`, newest first" }),
    next: nextCursor,
  },
  { $id: "WebhookDeliveryPage", title: "WebhookDeliveryPage" },
);
export type WebhookDeliveryPage = { items: WebhookDeliveryDto[]; next: string | null };

export const webhookDeliveryLog = Type.Object(
  {
    id: uuid("Identifier of the attempt"),
    deliveryId: uuid("Delivery identifier"),
    eventId: uuid("Event identifier"),
    event: Type.String({ examples: ["subscription.created"] }),
    recipient: Type.Object({
      kind: Type.Enum(["endpoint", "ehr"]),
      id: uuid("The recipient's identifier"),
      url: Type.String({ description: "The URL at the time of the attempt" }),
    }),
    attempt: Type.Integer({ minimum: 1, description: "`X-Marketplace-Attempt`" }),
    startedAt: instant("When the attempt started"),
    durationMs: nullable(Type.Integer({ minimum: 0 }), "null if the outcome is unknown"),
    outcome: Type.Enum(["delivered", "failed", "unknown"], {
      description: "`unknown`: in progress, or the result was not recorded",
    }),
    statusCode: nullable(
      Type.Integer(),
      "The status that was received, also if the body failed or timed out; null if there was none",
    ),
    error: nullable(Type.String(), "The error; null if there was none"),
    responseSnippet: nullable(Type.String(), "The first 4 KiB of the response body"),
    nextAttemptAt: nullable(instant("When the next attempt is due"), "null unless one is scheduled"),
  },
  { $id: "WebhookDeliveryLog", title: "WebhookDeliveryLog" },
);
export type WebhookDeliveryLog = Static<typeof webhookDeliveryLog>;

export const webhookDeliveryLogPage = Type.Object(
  { items: Type.Array(Type.Ref("WebhookDeliveryLog#"), { description: "Oldest first" }), next: nextCursor },
  { $id: "WebhookDeliveryLogPage", title: "WebhookDeliveryLogPage" },
);
export type WebhookDeliveryLogPage = { items: WebhookDeliveryLog[]; next: string | null };

export const acceptedDelivery = Type.Object(
  {
    deliveryId: uuid("The accepted delivery; its attempts show the outcome"),
    // Optional: the stored response to a repeated request may be of a version without it.
    endpointStatus: Type.Optional(
      Type.Enum([...endpointStatuses], {
        description: "The endpoint's status at the time of the request. Unless it is `active`, the delivery waits",
      }),
    ),
  },
  { $id: "AcceptedDelivery", title: "AcceptedDelivery" },
);
export type AcceptedDelivery = Static<typeof acceptedDelivery>;
