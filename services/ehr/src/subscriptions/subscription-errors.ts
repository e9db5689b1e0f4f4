import { Problem, type ProblemKind } from "@ehr-marketplace/service-kit/http";

export const subscriptionProblems = {
  marketplaceUnavailable: {
    code: "marketplace-unavailable",
    status: 503,
    title: "The marketplace can't be reached",
    advice: "Retry after the number of seconds in `Retry-After`.",
  },
  tooManySubscriptions: {
    code: "too-many-subscriptions",
    status: 422,
    title: "The organisation has too many subscriptions",
    advice: "Find the sender of these events. Reconciliation applies the marketplace's list, without a limit.",
  },
  anotherApp: {
    code: "another-app",
    status: 422,
    title: "The subscription is to another app",
    advice: "A subscription never changes its app. Find the sender of these events, and reconcile the organisation.",
  },
  appFetchesLimited: {
    code: "app-fetches-limited",
    status: 429,
    title: "Too many apps of the organisation are unconfirmed",
    advice: "Retry after the number of seconds in `Retry-After`.",
  },
  differenceNotFound: {
    code: "difference-not-found",
    status: 404,
    title: "The difference is unknown or settled",
    advice: "`GET /api/admin/differences` lists those that wait.",
  },
} satisfies Record<string, ProblemKind>;

export const differenceNotFound = (): Problem =>
  new Problem(
    subscriptionProblems.differenceNotFound,
    "No difference with that id waits: it doesn't exist, the list was applied, or a newer change has settled it.",
  );
