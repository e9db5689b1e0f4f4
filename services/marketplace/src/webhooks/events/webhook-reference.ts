import {
  appUpdatedEvent,
  eventApp,
  pingEvent,
  type SubscriptionEvent,
  type SubscriptionEventName,
  subscriptionEvent,
  subscriptionEventNames,
  usageReportedEvent,
  type WebhookEventName,
} from "@ehr-marketplace/contracts";

interface EventReference {
  summary: string;
  description: string;
  payload: object;
}

const shape = (name: string): object => ({ $ref: `#/components/schemas/${name}` });

const statuses: Record<SubscriptionEventName, SubscriptionEvent["subscription"]["status"]> = {
  "subscription.created": "active",
  "subscription.paused": "paused",
  "subscription.resumed": "active",
  "subscription.cancelled": "cancelled",
};

const summaries: Record<SubscriptionEventName, string> = {
  "subscription.created": "A practice subscribed to an app",
  "subscription.paused": "A subscription was paused",
  "subscription.resumed": "A paused subscription was resumed",
  "subscription.cancelled": "A practice cancelled a subscription",
};

function subscriptionReference(event: SubscriptionEventName): EventReference {
  const reason = event === "subscription.paused" ? { required: ["pauseReason"] } : {};
  const subscription = { type: "object", properties: { status: { const: statuses[event] } }, ...reason };
  return {
    summary: summaries[event],
    description:
      "To the endpoints that name it, and to the organisation's EHR. Events of one subscription reach a recipient in order.",
    payload: {
      allOf: [shape("SubscriptionEvent"), { type: "object", properties: { event: { const: event }, subscription } }],
    },
  };
}

const events: Record<WebhookEventName, EventReference> = {
  ...(Object.fromEntries(subscriptionEventNames.map((name) => [name, subscriptionReference(name)])) as Record<
    SubscriptionEventName,
    EventReference
  >),
  "usage.reported": {
    summary: "Usage of a metered app was reported",
    description: "To the endpoints that name it. It can be named, and is not sent yet.",
    payload: shape("UsageReportedEvent"),
  },
  "app.updated": {
    summary: "An app was published anew",
    description: "To the endpoints that name it. It can be named, and is not sent yet.",
    payload: shape("AppUpdatedEvent"),
  },
  ping: {
    summary: "A test of an endpoint",
    description: "To the endpoint that is tested by `POST /developer/webhooks/{id}/test`, whether or not it names it.",
    payload: shape("PingEvent"),
  },
};

const header = (name: string, description: string, schema: object): object => ({
  in: "header",
  name,
  required: true,
  description,
  schema: { type: "string", ...schema },
});

function headersOf(event: WebhookEventName): object[] {
  return [
    header("X-Marketplace-Event", "The event's name", { const: event }),
    header("X-Marketplace-Delivery-Id", "The delivery: the same at every attempt, redelivery and replay", {
      format: "uuid",
    }),
    header("X-Marketplace-Signature", "HMAC-SHA256 of the body with the shared secret, in lower-case hexadecimal", {
      pattern: "^[0-9a-f]{64}$",
    }),
    header("X-Marketplace-Attempt", "Which attempt of the delivery this is, from 1", { pattern: "^[1-9][0-9]*$" }),
    header("X-Marketplace-Version", "Version of the payload", { const: "1" }),
    header("webhook-id", "Standard Webhooks: the delivery once more", { format: "uuid" }),
    header("webhook-timestamp", "Standard Webhooks: time of this attempt, in seconds since 1970", {
      pattern: "^[0-9]+$",
    }),
    header(
      "webhook-signature",
      "Standard Webhooks: one signature for each live secret, separated by spaces. During a rotation there are two",
      { pattern: "^v1,[A-Za-z0-9+/]+=*( v1,[A-Za-z0-9+/]+=*)*$" },
    ),
  ];
}

const responses = {
  "2XX": { description: "Delivered, if it comes within 10 seconds, body included" },
  "410": { description: "Disables a vendor's endpoint; from an EHR it is a failure like any other" },
  default: {
    description:
      "Failed, redirects included: attempted up to twelve times over three days. On 429 and 503 `Retry-After` is obeyed",
  },
};

/** OpenAPI's description of what is posted to recipients: one request for each event. */
export const webhookReference = {
  requests: Object.fromEntries(
    Object.entries(events).map(([name, { summary, description, payload }]) => [
      name,
      {
        post: {
          tags: ["Events"],
          operationId: `on ${name}`.replaceAll(/[ .](\w)/g, (_, letter: string) => letter.toUpperCase()),
          summary,
          description,
          parameters: headersOf(name as WebhookEventName),
          requestBody: { required: true, content: { "application/json": { schema: payload } } },
          responses,
        },
      },
    ]),
  ),
  shapes: [eventApp, subscriptionEvent, usageReportedEvent, appUpdatedEvent, pingEvent],
};
