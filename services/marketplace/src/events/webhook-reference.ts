import {
  appUpdatedEvent,
  connectionUpdatedEvent,
  type EventApp,
  eventApp,
  pingEvent,
  type SubscriptionEventName,
  subscriptionEvent,
  subscriptionEventNames,
  usageReportedEvent,
  type WebhookEventName,
} from "@ehr-marketplace/contracts";

interface EventReference {
  summary: string;
  description: string;
  schema: object & { $id?: string };
  example: object;
}

const app = {
  id: "01890a5d-ac96-774b-bcce-b302099a8057",
  slug: "northwind-scribe",
  name: "Northwind Scribe",
  iconUrl: "https://media.marketplace.example/icons/northwind-scribe.svg",
  category: "DOCUMENTATION",
  extensionPoints: ["note-panel"],
  smartLaunchUrl: "https://scribe.northwind.example/launch",
  fhirScopes: "launch openid fhirUser patient/Encounter.rs",
} satisfies EventApp;
const subscription = { id: "01890a5d-ac96-774b-bcce-b302099a8058", status: "active", orgAlias: "riverside-clinic" };
const timestamp = "2026-03-18T09:30:00.000Z";

const subscriptionEvents: Record<
  SubscriptionEventName,
  { $id: string; summary: string; state: { status: string; or?: string; pauseReason?: string } }
> = {
  "subscription.created": {
    $id: "SubscriptionCreatedEvent",
    summary: "A practice subscribed to an app",
    state: { status: "active" },
  },
  "subscription.paused": {
    $id: "SubscriptionPausedEvent",
    summary: "A subscription was paused",
    state: { status: "paused", pauseReason: "NON_PAYMENT" },
  },
  "subscription.resumed": {
    $id: "SubscriptionResumedEvent",
    summary: "A paused subscription was resumed",
    state: { status: "active" },
  },
  "subscription.updated": {
    $id: "SubscriptionUpdatedEvent",
    summary: "The agreed scopes of a subscription changed",
    state: { status: "active", or: "paused" },
  },
  "subscription.cancelled": {
    $id: "SubscriptionCancelledEvent",
    summary: "A practice cancelled a subscription",
    state: { status: "cancelled" },
  },
};

/** One object for each event, not `allOf` with `SubscriptionEvent`: documentation shows each field once, with its only value. */
function subscriptionReference(event: SubscriptionEventName): EventReference {
  const { $id, summary, state } = subscriptionEvents[event];
  const { status, or: otherStatus, pauseReason: reason } = state;
  const { pauseReason, ...others } = subscriptionEvent.properties.subscription.properties;
  const properties = {
    ...others,
    status:
      otherStatus === undefined ? { type: "string", const: status } : { type: "string", enum: [status, otherStatus] },
    ...(reason !== undefined && { pauseReason }),
  };
  const schema = {
    ...subscriptionEvent,
    $id,
    title: $id,
    properties: {
      ...subscriptionEvent.properties,
      event: { type: "string", const: event },
      subscription: { type: "object", required: Object.keys(properties), properties },
    },
  };
  return {
    summary,
    description:
      "Sent to the endpoints that select it and to the organisation's EHR. A recipient receives the events of one subscription in order.",
    schema,
    example: {
      event,
      app,
      subscription: { ...subscription, status, ...(reason !== undefined && { pauseReason: reason }) },
      timestamp,
    },
  };
}

const events: Record<WebhookEventName, EventReference> = {
  ...(Object.fromEntries(subscriptionEventNames.map((name) => [name, subscriptionReference(name)])) as Record<
    SubscriptionEventName,
    EventReference
  >),
  "connection.updated": {
    summary: "An EHR reported whether an app can sign in",
    description:
      "Sent to the vendor's endpoints that select it, for each change of what the organisation's EHR has reported. Deliveries of it are not ordered: `timestamp` says which is newer.",
    schema: connectionUpdatedEvent,
    example: {
      event: "connection.updated",
      app,
      subscription,
      connection: {
        status: "failed",
        clientId: "0d3c2c1e-northwind-scribe",
        fhirBaseUrl: "https://ehr.example/fhir/riverside-clinic",
        reason: "The authorization server refuses the redirect URI.",
      },
      timestamp,
    },
  },
  "usage.reported": {
    summary: "Usage of a metered app was reported",
    description:
      "Sent to the vendor's endpoints that select it, for each batch of records in which one was counted. `quantity` is the sum of the counted records of a metric, whatever the plan's aggregation. Deliveries of it are not ordered: `timestamp` says which is newer.",
    schema: usageReportedEvent,
    example: {
      event: "usage.reported",
      app,
      subscription,
      timestamp,
      usage: [
        {
          metric: "notes",
          quantity: "12.5",
          from: "2026-03-17T00:00:00.000Z",
          to: "2026-03-17T23:59:59.999Z",
          recordCount: 3,
        },
      ],
    },
  },
  "app.updated": {
    summary: "A revision of an app was published",
    description:
      "Sent to the vendor's endpoints that select it, for each publication. Deliveries of it are not ordered: `timestamp` says which is newer.",
    schema: appUpdatedEvent,
    example: { event: "app.updated", app, timestamp },
  },
  ping: {
    summary: "A test of an endpoint",
    description:
      "Sent to the endpoint that `POST /developer/webhooks/{id}/test` tests, also when it doesn't select this event.",
    schema: pingEvent,
    example: { event: "ping", timestamp },
  },
};

const header = (name: string, description: string, schema: object, required = true): object => ({
  in: "header",
  name,
  required,
  description,
  schema: { type: "string", ...schema },
});

function headersOf(event: WebhookEventName): object[] {
  return [
    header("X-Marketplace-Event", "The event's name", { const: event }),
    header("X-Marketplace-Delivery-Id", "The delivery's id, the same for every attempt, redelivery and replay", {
      format: "uuid",
    }),
    header("X-Marketplace-Signature", "HMAC-SHA256 of the body with the shared secret, in lower-case hexadecimal", {
      pattern: "^[0-9a-f]{64}$",
    }),
    header("X-Marketplace-Attempt", "Number of the attempt, from 1", { pattern: "^[1-9][0-9]*$" }),
    header("X-Marketplace-Version", "Version of the payload format", { const: "1" }),
    ...(event.startsWith("subscription.") || event === "connection.updated"
      ? [header("X-Marketplace-Sandbox", "Only if the organisation is a sandbox", { const: "true" }, false)]
      : []),
    header("webhook-id", "Standard Webhooks: the delivery's id", { format: "uuid" }),
    header("webhook-timestamp", "Standard Webhooks: time of this attempt, in seconds since 1970", {
      pattern: "^[0-9]+$",
    }),
    header(
      "webhook-signature",
      "Standard Webhooks: one signature per valid secret, separated by spaces. During a rotation there are two",
      { pattern: "^v1,[A-Za-z0-9+/]+=*( v1,[A-Za-z0-9+/]+=*)*$" },
    ),
  ];
}

const responses = {
  "2XX": { description: "Delivered, if the complete response arrives within 10 seconds" },
  "410": { description: "Disables a vendor's endpoint. From an EHR it counts as any other failure" },
  default: {
    description:
      "Failed; redirects are not followed. The delivery is attempted up to twelve times over three days. `Retry-After` is respected with 429 and 503. A 400, 404 or 422 from an EHR to `subscription.resumed` or `subscription.updated`, which not every EHR knows, isn't retried",
  },
};

/** The OpenAPI description of the requests to recipients, one per event. */
export const webhookReference = {
  requests: Object.fromEntries(
    Object.entries(events).map(([name, { summary, description, schema, example }]) => [
      name,
      {
        post: {
          tags: ["Events"],
          operationId: `on ${name}`.replaceAll(/[ .](\w)/g, (_, letter: string) => letter.toUpperCase()),
          summary,
          description,
          parameters: headersOf(name as WebhookEventName),
          requestBody: {
            required: true,
            content: { "application/json": { schema: { $ref: `#/components/schemas/${schema.$id}` }, example } },
          },
          responses,
        },
      },
    ]),
  ),
  shapes: [eventApp, ...Object.values(events).map(({ schema }) => schema)],
};
