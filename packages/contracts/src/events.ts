import { type Static, Type } from "typebox";
import { instant, optionalUrl, url, uuid } from "./wire-types.ts";

/** The app as events carry it: the spec's eight fields, and no more. */
export const eventApp = Type.Object(
  {
    id: uuid("App identifier"),
    slug: Type.String(),
    name: Type.String(),
    iconUrl: url("Icon location"),
    category: Type.String(),
    extensionPoints: Type.Array(Type.String()),
    smartLaunchUrl: optionalUrl("SMART App Launch URL; null when absent"),
    fhirScopes: Type.String({ description: "Space-separated list of FHIR scope strings" }),
  },
  { $id: "EventApp", title: "EventApp" },
);
export type EventApp = Static<typeof eventApp>;

export const subscriptionEventNames = [
  "subscription.created",
  "subscription.paused",
  "subscription.resumed",
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
