import type { ProblemKind } from "./problem.ts";

/** Problems that every service may return. */
export const standardProblems = {
  invalidRequest: {
    code: "invalid-request",
    status: 400,
    title: "The request is invalid",
    advice: "Correct the request as described in `detail` and, if present, in `errors`. Then retry.",
  },
  unauthorized: {
    code: "unauthorized",
    status: 401,
    title: "A valid token is required",
    advice: "Send a valid token in the header `Authorization: Bearer …`.",
  },
  forbidden: {
    code: "forbidden",
    status: 403,
    title: "The caller is not allowed to do this",
    advice:
      "The token is valid, but its roles or organisations don't allow this request. `detail` says what is missing.",
  },
  notFound: {
    code: "not-found",
    status: 404,
    title: "Not found",
    advice: "Check the path against the API reference at /docs.",
  },
  methodNotAllowed: {
    code: "method-not-allowed",
    status: 405,
    title: "The method is not allowed",
    advice: "Use one of the methods in the `Allow` header.",
  },
  requestTimeout: {
    code: "request-timeout",
    status: 408,
    title: "The request took too long to arrive",
    advice:
      "Send the request without pauses. The default limit is 10 seconds, 60 for the upload of a file; the operator may set another.",
  },
  payloadTooLarge: {
    code: "payload-too-large",
    status: 413,
    title: "The body is too large",
    advice:
      "Send a smaller body. The default limit is 16 KiB; the API reference lists other limits, and `detail` names the one exceeded.",
  },
  uriTooLong: {
    code: "uri-too-long",
    status: 414,
    title: "The URL is too long",
    advice: "Shorten the URL. The default limit, query included, is 8 KiB; the operator may set another.",
  },
  unsupportedMediaType: {
    code: "unsupported-media-type",
    status: 415,
    title: "The media type is not supported",
    advice:
      "Send one of the media types that `detail` names. For most routes it is JSON, with `Content-Type: application/json`; imports take `application/x-ndjson`.",
  },
  preconditionRequired: {
    code: "precondition-required",
    status: 428,
    title: "If-Match is required",
    advice:
      "Get the resource, repeat your change in what you got, and send its `ETag` as `If-Match`. Then no one else's change is overwritten.",
  },
  rateLimited: {
    code: "rate-limited",
    status: 429,
    title: "Too many requests",
    advice:
      "Retry after the number of seconds in `Retry-After`. `RateLimit-Limit` is the number of requests allowed per minute.",
  },
  headersTooLarge: {
    code: "headers-too-large",
    status: 431,
    title: "The headers are too large",
    advice: "Reduce the headers to 16 KiB in total; large cookies and tokens are the usual cause.",
  },
  internalError: {
    code: "internal-error",
    status: 500,
    title: "Internal error",
    advice: "Retry. If the error persists, report it with `instance`, the request's id in the logs.",
  },
  overloaded: {
    code: "overloaded",
    status: 503,
    title: "Overloaded",
    advice: "Retry after the number of seconds in `Retry-After`.",
  },
  unavailable: {
    code: "unavailable",
    status: 503,
    title: "Temporarily unavailable",
    advice: "A dependency of the service is unavailable. Retry after the number of seconds in `Retry-After`.",
  },
} satisfies Record<string, ProblemKind>;
