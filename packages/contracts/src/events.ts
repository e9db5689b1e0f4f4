import { type Static, Type } from "typebox";
import { slugPattern } from "./catalog-requests.ts";
import { connectionState } from "./connections.ts";
import { orgAliasPattern } from "./organisations.ts";
import { instant, optionalUrl, url, uuid } from "./wire-types.ts";

/** The app as contained in events: exactly the eight fields of the specification. */
export const eventApp = Type.Object(
  {
    id: uuid("App identifier"),
    slug: Type.String(),
    name: Type.String(),
    iconUrl: url("Icon location"),
    category: Type.String(),
    extensionPoints: Type.Array(Type.String()),
    smartLaunchUrl: optionalUrl("SMART App Launch URL; null when absent"),
    fhirScopes: Type.String({
      description:
        "Space-separated list of FHIR scope strings. With a subscription: those that its organisation has agreed to",
    }),
  },
  { $id: "EventApp", title: "EventApp" },
);
export type EventApp = Static<typeof eventApp>;

export const subscriptionEventNames = [
  "subscription.created",
  "subscription.paused",
  "subscription.resumed",
  "subscription.updated",
  "subscription.cancelled",
] as const;
export type SubscriptionEventName = (typeof subscriptionEventNames)[number];

export const subscriptionEvent = Type.Object(
  {
    event: Type.Enum([...subscriptionEventNames]),
    app: Type.Ref("EventApp#"),
    subscription: Type.Object({
      id: uuid("Subscription identifier"),
      status: Type.Enum(["active", "paused", "cancelled"]),
      orgAlias: Type.String(),
      pauseReason: Type.Optional(Type.String({ description: "With `subscription.paused` only" })),
    }),
    timestamp: instant("When it happened; strictly increasing within one subscription"),
  },
  { $id: "SubscriptionEvent", title: "SubscriptionEvent" },
);
export type SubscriptionEvent = Omit<Static<typeof subscriptionEvent>, "app"> & { app: EventApp };

/**
 * A subscription event as the EHR validates it: only the fields that the EHR uses. Other fields may be present or absent; of the app
 * only the slug and the scopes are used.
 */
export const receivedSubscriptionEvent = Type.Object(
  {
    event: Type.Enum([...subscriptionEventNames]),
    app: Type.Object({
      slug: Type.String({ pattern: slugPattern, minLength: 3, maxLength: 64 }),
      fhirScopes: Type.Optional(
        Type.String({
          maxLength: 40_000,
          description:
            "The scopes that the organisation has agreed to; those of them that the app has in the marketplace's catalog are used",
        }),
      ),
    }),
    subscription: Type.Object({
      id: uuid("Subscription identifier"),
      status: Type.Enum(["active", "paused", "cancelled"], { description: "The status after the event" }),
      orgAlias: Type.String({ pattern: orgAliasPattern }),
      pauseReason: Type.Optional(
        Type.Unknown({ description: "With `subscription.paused`: why it is paused; an unknown reason counts as none" }),
      ),
    }),
    timestamp: Type.String({
      format: "date-time",
      pattern: "(Z|[+]00:00)$",
      maxLength: 64,
      "x-error-message": "must be a date and time in UTC, such as 2026-03-18T09:30:00.000Z",
      description: "When it happened (ISO 8601, UTC); an older event changes nothing",
      examples: ["2026-03-18T09:30:00.000Z"],
    }),
  },
  { $id: "ReceivedSubscriptionEvent", title: "ReceivedSubscriptionEvent" },
);
export type ReceivedSubscriptionEvent = Static<typeof receivedSubscriptionEvent>;

/** Events of other kinds are acknowledged and ignored. */
export const otherReceivedEvent = Type.Object(
  {
    event: Type.Unsafe<string>({ type: "string", not: { enum: [...subscriptionEventNames] } }),
    subscription: Type.Object({ orgAlias: Type.String({ pattern: orgAliasPattern }) }),
  },
  { $id: "OtherReceivedEvent", title: "OtherReceivedEvent" },
);

export const usageReportedEvent = Type.Object(
  {
    ...subscriptionEvent.properties,
    event: Type.Literal("usage.reported"),
    usage: Type.Array(
      Type.Object({
        metric: Type.String({ description: "The metric" }),
        quantity: Type.String({
          pattern: "^\\d+(\\.\\d+)?$",
          description: "The quantity, as a decimal",
          examples: ["12.5"],
        }),
        from: instant("The oldest record"),
        to: instant("The newest record"),
        recordCount: Type.Integer({ minimum: 1, description: "Number of accepted records" }),
      }),
      { description: "The reported usage, by metric" },
    ),
  },
  { $id: "UsageReportedEvent", title: "UsageReportedEvent" },
);
export type UsageReportedEvent = Omit<Static<typeof usageReportedEvent>, "app"> & { app: EventApp };

export const appUpdatedEvent = Type.Object(
  { event: Type.Literal("app.updated"), app: Type.Ref("EventApp#"), timestamp: instant("When it happened") },
  { $id: "AppUpdatedEvent", title: "AppUpdatedEvent" },
);

export const connectionUpdatedEvent = Type.Object(
  {
    event: Type.Literal("connection.updated"),
    app: Type.Ref("EventApp#"),
    subscription: Type.Object({
      id: uuid("Subscription identifier"),
      status: Type.Enum(["active", "paused"]),
      orgAlias: Type.String(),
    }),
    connection: Type.Object(connectionState, { description: "What the organisation's EHR has reported" }),
    timestamp: instant("When it happened; strictly increasing within the connection of one subscription"),
  },
  { $id: "ConnectionUpdatedEvent", title: "ConnectionUpdatedEvent" },
);
export type ConnectionUpdatedEvent = Omit<Static<typeof connectionUpdatedEvent>, "app"> & { app: EventApp };

export const pingEvent = Type.Object(
  { event: Type.Literal("ping"), timestamp: instant("When the test was requested") },
  { $id: "PingEvent", title: "PingEvent" },
);
