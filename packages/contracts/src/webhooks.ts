import { type Static, Type } from "typebox";
import { withoutNul } from "./catalog-requests.ts";
import { subscriptionEventNames } from "./events.ts";
import { type PageQuery, pageQuery } from "./paging.ts";
import { instant, nullable, requestTime, uuid } from "./wire-types.ts";

export const webhookEventNames = [...subscriptionEventNames, "usage.reported", "app.updated", "ping"] as const;
export type WebhookEventName = (typeof webhookEventNames)[number];

export const endpointStatuses = ["active", "held", "disabled"] as const;
export const deliveryStatuses = ["waiting", "queued", "delivered", "failed", "expired", "dropped"] as const;

const endpointUrl = Type.String({
  format: "uri",
  maxLength: 2048,
  pattern: withoutNul,
  description: "Where deliveries are posted: https, at a public address",
  examples: ["https://hooks.northwind-health.example/marketplace"],
});

/** Shorter ones can be guessed. */
const signingSecret = Type.String({
  minLength: 16,
  maxLength: 256,
  pattern: withoutNul,
  description: "Signs what is sent. What follows `whsec_` must be Base64 of 16 bytes or more",
});

// With the type, the validator compares items by hashing; without it, each with each.
const eventNames = Type.Array(Type.Enum([...webhookEventNames], { type: "string" }), {
  minItems: 1,
  maxItems: webhookEventNames.length,
  uniqueItems: true,
  description: "What to hear of",
  examples: [["subscription.created", "subscription.cancelled"]],
});

export const registerWebhookBody = Type.Object(
  { url: endpointUrl, secret: signingSecret, events: eventNames },
  { additionalProperties: false },
);
export type RegisterWebhookBody = Static<typeof registerWebhookBody>;

export const changeWebhookBody = Type.Object(
  { url: Type.Optional(endpointUrl), events: Type.Optional(eventNames) },
  { additionalProperties: false, minProperties: 1 },
);
export type ChangeWebhookBody = Static<typeof changeWebhookBody>;

export const rotateSecretBody = Type.Object({ secret: signingSecret }, { additionalProperties: false });
export type RotateSecretBody = Static<typeof rotateSecretBody>;

export const webhookParams = Type.Object({ id: uuid("The endpoint's identifier") });
export const webhookDeliveryParams = Type.Object({
  id: uuid("The endpoint's identifier"),
  deliveryId: uuid("The delivery's identifier"),
});

const registered = {
  id: uuid("Endpoint identifier"),
  url: Type.String({ format: "uri", description: "Where deliveries are posted" }),
  events: Type.Array(Type.Enum([...webhookEventNames]), { description: "What it hears of" }),
  status: Type.Enum([...endpointStatuses], {
    description:
      "`held`: it keeps failing, and only a probe goes out now and then. `disabled`: nothing goes out until it is enabled",
  }),
  createdAt: instant("Registered"),
};

export const registeredWebhookDto = Type.Object(registered, {
  $id: "RegisteredWebhookDto",
  title: "RegisteredWebhookDto",
});
export type RegisteredWebhookDto = Static<typeof registeredWebhookDto>;

export const webhookEndpointDto = Type.Object(
  {
    ...registered,
    disabledReason: nullable(Type.String(), "Why it is disabled; null unless it is"),
    heldSince: nullable(instant("Held"), "Since when it keeps failing; null while it is active"),
    rotation: nullable(
      Type.Object({ promotesAt: instant("When the next secret takes over by itself") }),
      "While there is a next secret, both sign; null unless there is one",
    ),
  },
  { $id: "WebhookEndpointDto", title: "WebhookEndpointDto" },
);
export type WebhookEndpointDto = Static<typeof webhookEndpointDto>;

const next = nullable(Type.String(), "The `after` of the next page; null: this is the last one");

export const webhookEndpointPage = Type.Object(
  { items: Type.Array(Type.Ref("WebhookEndpointDto#"), { description: "The oldest first" }), next },
  { $id: "WebhookEndpointPage", title: "WebhookEndpointPage" },
);
export type WebhookEndpointPage = { items: WebhookEndpointDto[]; next: string | null };

export const listDeliveriesQuery = Type.Object({
  ...pageQuery.properties,
  status: Type.Optional(Type.Enum([...deliveryStatuses])),
  from: Type.Optional(requestTime("Only what became due at this time or later")),
  to: Type.Optional(requestTime("Only what became due before this time")),
});
export type ListDeliveriesQuery = Static<typeof listDeliveriesQuery> & PageQuery;

const delivery = {
  id: uuid("Delivery identifier: `X-Marketplace-Delivery-Id` of its every attempt"),
  eventId: uuid("Event identifier; other recipients have deliveries of the same event"),
  event: Type.String({ examples: ["subscription.created"] }),
  status: Type.Enum([...deliveryStatuses], {
    description:
      "`waiting`: behind another, or for its endpoint to recover. `queued`: on its way, or about to be tried again. `expired`: its endpoint was disabled for too long. `dropped`: its endpoint was deleted",
  }),
  attempts: Type.Integer({ minimum: 0 }),
  failures: Type.Integer({ minimum: 0, description: "Attempts that count toward the last one; probes don't" }),
  nextAttemptAt: nullable(instant("When it is tried again"), "null unless a time is set"),
  createdAt: instant("When it became due"),
  settledAt: nullable(instant("When it was over"), "null unless it is"),
  subscriptionId: nullable(uuid("The subscription that the event is about"), "null where it is about none"),
};

export const webhookDeliveryDto = Type.Object(delivery, { $id: "WebhookDeliveryDto", title: "WebhookDeliveryDto" });
export type WebhookDeliveryDto = Static<typeof webhookDeliveryDto>;

export const webhookDeliveryDetailDto = Type.Object(
  {
    ...delivery,
    payload: Type.String({
      description: "The body that every attempt sends, byte for byte: what `X-Marketplace-Signature` signs",
      examples: ['{"event":"ping","timestamp":"2026-03-18T09:30:00.000Z"}'],
    }),
  },
  { $id: "WebhookDeliveryDetailDto", title: "WebhookDeliveryDetailDto" },
);
export type WebhookDeliveryDetailDto = Static<typeof webhookDeliveryDetailDto>;

export const webhookDeliveryPage = Type.Object(
  { items: Type.Array(Type.Ref("WebhookDeliveryDto#"), { description: "The newest first" }), next },
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
      id: uuid("Whom it was sent to"),
      url: Type.String({ description: "Where it was sent, at that time" }),
    }),
    attempt: Type.Integer({ minimum: 1, description: "`X-Marketplace-Attempt`" }),
    startedAt: instant("When it went out"),
    durationMs: nullable(Type.Integer({ minimum: 0 }), "null where it is not known how it ended"),
    outcome: Type.Enum(["delivered", "failed", "unknown"], {
      description: "`unknown`: under way, or it is not known how it ended",
    }),
    statusCode: nullable(Type.Integer(), "null where no answer came"),
    error: nullable(Type.String(), "What went wrong; null where nothing did"),
    responseSnippet: nullable(Type.String(), "Up to 4 KiB of what was answered"),
    nextAttemptAt: nullable(instant("When it is tried again"), "null unless it is"),
  },
  { $id: "WebhookDeliveryLog", title: "WebhookDeliveryLog" },
);
export type WebhookDeliveryLog = Static<typeof webhookDeliveryLog>;

export const webhookDeliveryLogPage = Type.Object(
  { items: Type.Array(Type.Ref("WebhookDeliveryLog#"), { description: "The oldest first" }), next },
  { $id: "WebhookDeliveryLogPage", title: "WebhookDeliveryLogPage" },
);
export type WebhookDeliveryLogPage = { items: WebhookDeliveryLog[]; next: string | null };

export const acceptedDelivery = Type.Object(
  { deliveryId: uuid("What is on its way; its attempts show what becomes of it") },
  { $id: "AcceptedDelivery", title: "AcceptedDelivery" },
);
export type AcceptedDelivery = Static<typeof acceptedDelivery>;
