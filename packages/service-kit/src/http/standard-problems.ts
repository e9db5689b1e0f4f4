import type { ProblemKind } from "./problem.ts";

/** What any service of ours may answer, whatever its features. */
export const standardProblems = {
  invalidRequest: {
    code: "invalid-request",
    status: 400,
    title: "The request is invalid",
    advice: "Correct what `detail` says, and what `errors` points at where there are any. Then send the request again.",
  },
  unauthorized: {
    code: "unauthorized",
    status: 401,
    title: "A valid token is needed",
    advice: "Send a valid token in the header `Authorization: Bearer …`.",
  },
  forbidden: {
    code: "forbidden",
    status: 403,
    title: "Not allowed to this caller",
    advice: "The token is valid, but what it carries doesn't allow this. `detail` says what is missing.",
  },
  notFound: {
    code: "not-found",
    status: 404,
    title: "Nothing is here",
    advice: "Check the path against the API reference at /docs.",
  },
  methodNotAllowed: {
    code: "method-not-allowed",
    status: 405,
    title: "The method is not allowed here",
    advice: "Use one of the methods that the `Allow` header lists.",
  },
  requestTimeout: {
    code: "request-timeout",
    status: 408,
    title: "The request took too long to arrive",
    advice: "Send the whole request in one go. Ten seconds are allowed, unless the operator set another limit.",
  },
  payloadTooLarge: {
    code: "payload-too-large",
    status: 413,
    title: "The body is too large",
    advice: "Send less. A body may have 16 KiB, unless the API reference says otherwise; `detail` names the limit.",
  },
  uriTooLong: {
    code: "uri-too-long",
    status: 414,
    title: "The URL is too long",
    advice: "Shorten the URL. With its query it may have 8 KiB, unless the operator set another limit.",
  },
  unsupportedMediaType: {
    code: "unsupported-media-type",
    status: 415,
    title: "The media type is not supported",
    advice: "Send JSON, with `Content-Type: application/json`.",
  },
  rateLimited: {
    code: "rate-limited",
    status: 429,
    title: "Too many requests",
    advice:
      "Wait as many seconds as `Retry-After` says. `RateLimit-Limit` tells how many requests a minute are served.",
  },
  headersTooLarge: {
    code: "headers-too-large",
    status: 431,
    title: "The headers are too large",
    advice: "Keep all headers together within 16 KiB; large cookies and tokens are the usual cause.",
  },
  internalError: {
    code: "internal-error",
    status: 500,
    title: "An error on our side",
    advice: "Try again; if it stays, report it together with `instance`, which finds it in our logs.",
  },
  overloaded: {
    code: "overloaded",
    status: 503,
    title: "Overloaded",
    advice: "Try again after as many seconds as `Retry-After` says.",
  },
  unavailable: {
    code: "unavailable",
    status: 503,
    title: "Unavailable for a moment",
    advice: "Something that the service needs is away. Try again after as many seconds as `Retry-After` says.",
  },
} satisfies Record<string, ProblemKind>;
