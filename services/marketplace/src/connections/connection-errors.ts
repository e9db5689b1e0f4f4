import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

export const connectionProblems = {
  clientNotFound: {
    code: "client-not-found",
    status: 404,
    title: "The app has no client",
    advice:
      "No app with that slug has been published, or its published revision doesn't say how the app signs in: see `detail`. Its vendor adds `oauth` to the draft and publishes it.",
  },
  clientSuspended: {
    code: "client-suspended",
    status: 410,
    title: "The app is suspended for security",
    advice:
      "The marketplace has suspended the app and paused its subscriptions. Issue it no tokens. Keep its registration: the client returns if the app is reinstated.",
  },
  changedTooOften: {
    code: "connection-changed-too-often",
    status: 429,
    title: "The connection has changed too often",
    advice:
      "The connection of a subscription changes at most 30 times an hour. Retry after the seconds in `Retry-After`; repeating a report that changes nothing is always possible.",
  },
} satisfies Record<string, ProblemKind>;
