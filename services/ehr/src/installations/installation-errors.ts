import { Problem, type ProblemKind } from "@ehr-marketplace/service-kit/http";

export const installationProblems = {
  notInstalled: {
    code: "not-installed",
    status: 404,
    title: "The app is not installed",
    advice: "Subscribe to it in the marketplace. `GET /api/app-installations` lists what is installed.",
  },
  marketplaceUnavailable: {
    code: "marketplace-unavailable",
    status: 503,
    title: "The marketplace can't be reached",
    advice: "Try again after as many seconds as `Retry-After` says.",
  },
  tooManySubscriptions: {
    code: "too-many-subscriptions",
    status: 422,
    title: "The organisation has too many subscriptions",
    advice:
      "Find out who sends these events. Reconciliation takes over whatever the marketplace lists, without a limit.",
  },
  anotherApp: {
    code: "another-app",
    status: 422,
    title: "The subscription is to another app",
    advice: "A subscription never changes its app. Find out who sends these events, and reconcile the organisation.",
  },
  appFetchesLimited: {
    code: "app-fetches-limited",
    status: 429,
    title: "Too many apps of the organisation wait for confirmation",
    advice: "Try again after as many seconds as `Retry-After` says.",
  },
  configurationsTooLarge: {
    code: "configurations-too-large",
    status: 422,
    title: "The organisation's configurations are too large together",
    advice:
      "Shorten this configuration or those of other apps. An organisation's configurations may have 1 MiB together, encrypted.",
  },
  schemaUnusable: {
    code: "schema-unusable",
    status: 422,
    title: "The app's configuration can't be validated",
    advice: "The schema that the app's vendor published is outside the supported profile. Tell the vendor.",
  },
} satisfies Record<string, ProblemKind>;

/** The same whether there is no such app or the organisation doesn't have it. */
export const notInstalled = (): Problem =>
  new Problem(installationProblems.notInstalled, "No app with that slug is installed for the organisation.");
