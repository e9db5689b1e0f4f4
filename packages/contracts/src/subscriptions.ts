import { type Static, Type } from "typebox";
import { firstSpendLimit } from "./billing.ts";
import type { PricingPlanDto } from "./catalog.ts";
import { noNulPattern, slugPattern } from "./catalog-requests.ts";
import type { EventApp } from "./events.ts";
import { nextCursor, type PageQuery, pageQuery } from "./paging.ts";
import { instant, nullable, uuid } from "./wire-types.ts";

export const subscriptionStatuses = ["active", "paused", "cancelled"] as const;
/** Those that a caller can give. */
export const pauseReasons = ["NON_PAYMENT", "OPERATOR_HOLD", "SECURITY", "ORG_REQUEST"] as const;

const status = Type.Enum([...subscriptionStatuses], { description: "`cancelled` is final" });
/** SPEND_LIMIT is given by the marketplace. */
export const allPauseReasons = [...pauseReasons, "SPEND_LIMIT"] as const;
const pauseReason = Type.Enum([...allPauseReasons]);
const quantity = { minimum: 1, maximum: 2_147_483_647 };
export const sha256Pattern = "^[0-9a-f]{64}$";

/** As long as a listing's. */
const givenScopes = (description: string) =>
  Type.String({
    maxLength: 10_000,
    pattern: noNulPattern,
    description,
    examples: ["launch openid fhirUser patient/Encounter.rs"],
  });

export const createSubscriptionBody = Type.Object(
  {
    appSlug: Type.String({ pattern: noNulPattern, maxLength: 64, examples: ["northwind-scribe"] }),
    orgAlias: Type.String({ pattern: noNulPattern, maxLength: 64, examples: ["riverside-clinic"] }),
    pricingPlanId: uuid("One of the app's plans, from `/apps/{slug}/pricing`"),
    quantity: Type.Optional(Type.Integer({ ...quantity, description: "Units; for PER_UNIT and TIERED plans only" })),
    fhirScopes: Type.Optional(
      givenScopes(
        "The app's scopes as they were shown to the person who agrees to them. If the app has others by now, nothing is created. Without it, the app's current ones are agreed to",
      ),
    ),
    spendLimit: Type.Optional(firstSpendLimit),
    acceptBaa: Type.Optional(
      Type.Boolean({
        description:
          "Whether the business associate agreement is accepted. Must be true if the app has `baaRequired`; ignored otherwise",
      }),
    ),
    baaSha256: Type.Optional(
      Type.String({
        pattern: sha256Pattern,
        maxLength: 64,
        description:
          "`baaSha256` of the app as it was when its agreement was shown to whoever accepts it. If the app requires another agreement by now, nothing is created. Without it, the current one is accepted; ignored if the app requires none",
      }),
    ),
  },
  { additionalProperties: false },
);
export type CreateSubscriptionBody = Static<typeof createSubscriptionBody>;

export const pauseSubscriptionBody = Type.Object(
  {
    reason: Type.Enum([...pauseReasons], {
      description:
        "NON_PAYMENT: billing and operators. OPERATOR_HOLD, SECURITY: operators. ORG_REQUEST: the organisation's admins, and operators",
    }),
  },
  { additionalProperties: false },
);
export type PauseSubscriptionBody = Static<typeof pauseSubscriptionBody>;

export const consentBody = Type.Object(
  {
    fhirScopes: givenScopes(
      "The scopes that are agreed to: all that the app has now, in any order and either syntax of SMART App Launch",
    ),
  },
  { additionalProperties: false },
);
export type ConsentBody = Static<typeof consentBody>;

export const changeTermsBody = Type.Object(
  {
    pricingPlanId: uuid(
      "The plan from now on: one that the app has on sale, in the same currency, or the one that the subscription has",
    ),
    quantity: Type.Optional(
      Type.Integer({
        ...quantity,
        description: "Units; for PER_UNIT and TIERED plans only. Without it, they stay as they are, or are 1",
      }),
    ),
  },
  { additionalProperties: false },
);
export type ChangeTermsBody = Static<typeof changeTermsBody>;

export const subscriptionParams = Type.Object({ id: uuid("The subscription's identifier") });

export const listSubscriptionsQuery = Type.Object({
  orgAlias: Type.String({
    pattern: noNulPattern,
    maxLength: 64,
    description: "The organisation's alias",
    examples: ["riverside-clinic"],
  }),
  status: Type.Optional(status),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        "Maximum number of subscriptions; 1,000 by default and at most, and larger values are treated as 1,000",
    }),
  ),
  after: Type.Optional(uuid('Only subscriptions after this one; `Link: rel="next"` contains it')),
  expand: Type.Optional(
    Type.Enum(["app"], { description: "`app` adds to each subscription its app as in events, published or not" }),
  ),
});
export type ListSubscriptionsQuery = Static<typeof listSubscriptionsQuery>;

/** A subscription without its plan: what the audit log has. */
export const subscriptionState = Type.Object(
  {
    id: uuid("Subscription identifier"),
    appId: uuid("App identifier"),
    appSlug: Type.String({ description: "The app's slug", examples: ["northwind-scribe"] }),
    orgAlias: Type.String({ description: "Organisation alias", examples: ["riverside-clinic"] }),
    pricingPlanId: uuid("The subscribed plan; later price changes of the app don't affect it"),
    quantity: nullable(Type.Integer(quantity), "Units; null if the plan has no units"),
    fhirScopes: Type.String({
      description: "The scopes of the app that the organisation has agreed to, separated by spaces",
      examples: ["launch openid fhirUser patient/Encounter.rs"],
    }),
    pendingScopes: Type.String({
      description:
        "Scopes that the app has added since, separated by spaces; an admin or an operator agrees to them with `POST /subscriptions/{id}/consent`. Empty if there are none, or if the subscription is cancelled",
      examples: ["patient/Observation.rs"],
    }),
    status,
    pauseReason: nullable(pauseReason, "Why the subscription is paused; null unless it is"),
    trialEndsAt: nullable(instant("End of the trial"), "null if there is no trial"),
    createdAt: instant("Subscribed"),
    updatedAt: instant("Last changed"),
    pausedAt: nullable(instant("Paused"), "null unless it is paused"),
    cancelledAt: nullable(instant("Cancelled"), "null unless it is cancelled"),
  },
  { $id: "SubscriptionState", title: "SubscriptionState" },
);
export type SubscriptionState = Static<typeof subscriptionState>;

const { id, orgAlias, updatedAt, fhirScopes, pendingScopes } = subscriptionState.properties;
/** A subscription as the EHR validates it: only the fields that the EHR uses. An older marketplace has no agreements to scopes. */
export const receivedSubscription = Type.Object(
  {
    id,
    appSlug: Type.String({ pattern: slugPattern, minLength: 3, maxLength: 64 }),
    orgAlias,
    fhirScopes: Type.Optional(Type.String({ ...fhirScopes, maxLength: 40_000 })),
    pendingScopes: Type.Optional(Type.String({ ...pendingScopes, maxLength: 40_000 })),
    status,
    pauseReason: Type.Optional(Type.Unknown({ description: "Why it is paused; an unknown reason counts as none" })),
    updatedAt,
  },
  { $id: "ReceivedSubscription", title: "ReceivedSubscription" },
);
export type ReceivedSubscription = Static<typeof receivedSubscription>;

export const subscriptionDto = Type.Object(
  {
    ...subscriptionState.properties,
    pricingPlan: Type.Ref("PricingPlanDto#", { description: "The subscribed plan, also if it is no longer on sale" }),
  },
  { $id: "SubscriptionDto", title: "SubscriptionDto" },
);
export type SubscriptionDto = SubscriptionState & { pricingPlan: PricingPlanDto };

export const listedSubscriptionDto = Type.Object(
  {
    ...subscriptionDto.properties,
    app: Type.Optional(Type.Ref("EventApp#", { description: "Only with `expand=app`; also for unpublished apps" })),
    isOffered: Type.Optional(
      Type.Boolean({
        description:
          "Only with `expand=app`: false once the app has left the catalog, so that nobody can subscribe to it",
      }),
    ),
  },
  { $id: "ListedSubscriptionDto", title: "ListedSubscriptionDto" },
);
export type ListedSubscriptionDto = SubscriptionDto & { app?: EventApp; isOffered?: boolean };

const appSlug = Type.String({
  maxLength: 64,
  pattern: noNulPattern,
  description: "Only subscriptions to this app; an unknown app has none",
  examples: ["northwind-scribe"],
});

export const listVendorSubscriptionsQuery = Type.Object({
  ...pageQuery.properties,
  appSlug: Type.Optional(appSlug),
  status: Type.Optional(status),
});
export type ListVendorSubscriptionsQuery = Static<typeof listVendorSubscriptionsQuery> & PageQuery;

export const listAllSubscriptionsQuery = Type.Object({
  ...listVendorSubscriptionsQuery.properties,
  vendor: Type.Optional(
    Type.String({
      maxLength: 64,
      pattern: noNulPattern,
      description: "Only subscriptions to apps of the vendor with this slug; an unknown vendor has none",
      examples: ["northwind-health"],
    }),
  ),
  orgAlias: Type.Optional(
    Type.String({
      maxLength: 64,
      pattern: noNulPattern,
      description: "Only subscriptions of this organisation; an unknown organisation has none",
      examples: ["riverside-clinic"],
    }),
  ),
  pauseReason: Type.Optional(pauseReason),
});
export type ListAllSubscriptionsQuery = Static<typeof listAllSubscriptionsQuery> & PageQuery;

export const subscriptionPage = Type.Object(
  {
    items: Type.Array(Type.Ref("SubscriptionDto#"), { description: "Newest first" }),
    next: nextCursor,
  },
  { $id: "SubscriptionPage", title: "SubscriptionPage" },
);
export type SubscriptionPage = { items: SubscriptionDto[]; next: string | null };
