import type { ProblemKind } from "@ehr-marketplace/service-kit/http";

/** The kinds of error that the web adds to the standard ones. */
export const webProblems = {
  sessionRequired: {
    code: "session-required",
    status: 401,
    title: "You are not signed in",
    advice:
      "Sign in at /login. A session ends when it isn't used for a while, and at the latest some hours after sign-in.",
  },
  sessionChanged: {
    code: "session-changed",
    status: 409,
    title: "Somebody else has signed in",
    advice: "Nothing was forwarded. Load the page anew, and act as the person who is signed in now.",
  },
  crossOrigin: {
    code: "cross-origin",
    status: 403,
    title: "The request came from another site",
    advice: "Open our pages, and repeat what you wanted to do there. Scripts send `X-Requested-With: ehr-marketplace`.",
  },
  tooManyInProgress: {
    code: "too-many-in-progress",
    status: 429,
    title: "Too many requests at once",
    advice: "Nothing was forwarded. Retry after the number of seconds in `Retry-After`, with fewer requests at once.",
  },
  upstreamUnavailable: {
    code: "upstream-unavailable",
    status: 503,
    title: "A service can't be reached",
    advice: "`detail` names the service. Nothing is known to have changed: look before you repeat a change.",
  },
  signInUnavailable: {
    code: "sign-in-unavailable",
    status: 503,
    title: "The identity provider can't be reached",
    advice:
      "Retry after the number of seconds in `Retry-After`. Who is signed in stays so until the access token expires.",
  },
} satisfies Record<string, ProblemKind>;
