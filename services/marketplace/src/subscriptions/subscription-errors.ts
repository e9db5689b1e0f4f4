import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const subscriptionProblems = {
  notFound: {
    code: "subscription-not-found",
    status: 404,
    title: "No such subscription",
    advice: "No subscription of yours has that id. `GET /subscriptions?orgAlias=` lists your organisation's.",
  },
  alreadySubscribed: {
    code: "already-subscribed",
    status: 409,
    title: "The organisation is already subscribed",
    advice: "An organisation can have one live subscription to an app. Cancel it first, or keep it.",
  },
  blocked: {
    code: "subscription-blocked",
    status: 409,
    title: "Subscribing again is blocked",
    advice:
      "The last subscription was cancelled while it was paused by billing or by the marketplace. Billing or an operator has to lift the block.",
  },
  cancelled: {
    code: "subscription-cancelled",
    status: 409,
    title: "The subscription is cancelled",
    advice: "Cancelling is final. Subscribe again with `POST /subscriptions`.",
  },
  pausedForAnotherReason: {
    code: "paused-for-another-reason",
    status: 409,
    title: "The subscription is paused for another reason",
    advice: "Resume it with `POST /subscriptions/{id}/resume`, then pause it for the new reason.",
  },
  appSuspended: {
    code: "app-suspended",
    status: 409,
    title: "The app is suspended",
    advice:
      "The marketplace has suspended the app, so its subscriptions can't be resumed until it is reinstated. Those that the suspension paused are resumed then. Cancelling is possible.",
  },
  baaChanged: {
    code: "baa-changed",
    status: 409,
    title: "The app requires another business associate agreement",
    advice:
      "Show the app's current agreement (`baaUrl` of `GET /apps/{slug}`) to the person who decides, and send its `baaSha256` once it is accepted.",
  },
  scopesChanged: {
    code: "scopes-changed",
    status: 409,
    title: "The app has other scopes",
    advice:
      "Show the app's current `fhirScopes` (`GET /apps/{slug}`) to the person who decides, and send exactly those: one agrees to what one has seen.",
  },
  sandboxPaused: {
    code: "sandbox-subscription-paused",
    status: 409,
    title: "The subscription of the sandbox organisation is paused",
    advice:
      "Resume it with `POST /subscriptions/{id}/resume`, or ask an operator if you may not, and install the draft again.",
  },
  notCancelled: {
    code: "subscription-not-cancelled",
    status: 409,
    title: "The subscription is not cancelled",
    advice:
      "Only a cancelled subscription can have a block. Resume a paused one with `POST /subscriptions/{id}/resume`.",
  },
  changedTooOften: {
    code: "subscription-changed-too-often",
    status: 429,
    title: "The subscription has changed too often",
    advice:
      "A subscription changes its state at most 30 times an hour. Retry after the seconds in `Retry-After`. Operators are exempt.",
  },
  createdTooOften: {
    code: "subscription-created-too-often",
    status: 429,
    title: "The organisation has subscribed to the app too often",
    advice:
      "An organisation subscribes to one app at most 30 times a day. Retry after the seconds in `Retry-After`. Operators are exempt.",
  },
  unknownApp: {
    code: "unknown-app",
    status: 422,
    title: "No such app",
    advice: "No published app has that slug. Find the right one with `GET /apps/search`.",
  },
  unknownPlan: {
    code: "unknown-plan",
    status: 422,
    title: "The app has no such plan",
    advice: "Use the id of a plan from `GET /apps/{slug}/pricing`.",
  },
  unknownOrganisation: {
    code: "unknown-organisation",
    status: 422,
    title: "The organisation is not registered",
    advice: "An operator of the marketplace registers it with `PUT /admin/organisations/{alias}`.",
  },
  sandboxOrganisation: {
    code: "sandbox-organisation",
    status: 422,
    title: "The organisation is a sandbox",
    advice:
      "A sandbox organisation can't subscribe to published apps. Its vendor installs drafts in it with `POST /developer/apps/{slug}/test-subscriptions`.",
  },
  baaRequired: {
    code: "baa-required",
    status: 422,
    title: "The business associate agreement is not accepted",
    advice:
      "The app has `baaRequired`: show the vendor's business associate agreement, which is at the app's `baaUrl`, to the person who decides, and send `acceptBaa: true` once it is accepted.",
  },
  otherCurrency: {
    code: "other-currency",
    status: 422,
    title: "The plan has another currency",
    advice:
      "A subscription keeps its currency. Choose a plan in the same one, or cancel the subscription and subscribe to the other plan.",
  },
  quantityNotCounted: {
    code: "quantity-not-counted",
    status: 422,
    title: "The plan has no quantity",
    advice: "Omit `quantity`: only PER_UNIT and TIERED plans have one.",
  },
} satisfies Record<string, ProblemKind>;
