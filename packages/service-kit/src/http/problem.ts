import type { ProblemDocument } from "@ehr-marketplace/contracts";

/** A kind of error, documented at its `type`. Codes are stable: clients rely on them. */
export interface ProblemKind {
  code: string;
  status: number;
  title: string;
  advice: string;
}

export interface InvalidInput {
  pointer: string;
  detail: string;
  code?: string;
}

/** Escapes a name for use in a JSON Pointer (RFC 6901). */
export function escapePointerSegment(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

export class Problem extends Error {
  override readonly name = "Problem";
  readonly kind: ProblemKind;
  readonly errors: InvalidInput[] | undefined;
  readonly headers: Record<string, string>;

  constructor(
    kind: ProblemKind,
    detail: string,
    extra: { errors?: InvalidInput[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(detail, { cause: extra.cause });
    this.kind = kind;
    this.errors = extra.errors;
    this.headers = extra.headers ?? {};
  }

  toDocument(requestId: string): ProblemDocument {
    const { code, status, title } = this.kind;
    return {
      type: `/problems/${code}`,
      title,
      status,
      detail: this.message,
      instance: requestId,
      code,
      ...(this.errors === undefined ? {} : { errors: this.errors }),
    };
  }
}

export const problemMediaType = "application/problem+json";

/** The format of all errors of a service, those of Node's HTTP parser included. */
export interface ErrorShape {
  mediaType: string;
  write(problem: Problem, requestId: string): string;
  /** For browsers, which accept HTML: an error as a page. */
  page?: { headers: Record<string, string>; write(problem: Problem, requestId: string): string };
}

export const problemShape: ErrorShape = {
  mediaType: problemMediaType,
  write: (problem, requestId) => JSON.stringify(problem.toDocument(requestId)),
};

/** Error statuses of every route, for the API reference. */
const commonStatuses = [400, 408, 414, 429, 431, 500, 503] as const;

const meanings: Record<number, string> = {
  400: "The request is malformed or invalid",
  401: "The token is missing or invalid",
  403: "The caller is not allowed to do this",
  404: "The resource doesn't exist, or the caller has no access to it",
  405: "The method is not allowed; `Allow` lists the allowed methods",
  408: "The request took too long to arrive",
  409: "The request conflicts with the current state",
  410: "The resource is permanently gone",
  412: "The resource has changed since it was read",
  413: "The body is too large",
  414: "The URL is too long",
  415: "The body's media type is not supported; `Accept` and `detail` name the accepted one",
  422: "The request is well-formed, but refers to something that can't be used",
  428: "`If-Match` is missing",
  429: "Too many requests; retry after `Retry-After` seconds",
  431: "The headers are too large",
  500: "Internal error; quote the response's `X-Request-Id` when you report it",
  503: "The service is overloaded, or a dependency is unavailable; retry after `Retry-After` seconds",
};

/** A JSON response with the named schema, for the API reference. */
export const responseOf = (description: string, name: string): object => ({
  description,
  content: { "application/json": { schema: { $ref: `${name}#` } } },
});

/**
 * The error responses of a route, for the API reference: statuses with the default description, or an object of statuses with
 * descriptions that are specific to the route.
 */
export const errorResponses =
  (mediaType: string, schemaName: string) =>
  (...own: (number | Record<number, string>)[]): Record<number, object> => {
    const ownMeanings: Record<number, string> = Object.assign({}, ...own.filter((each) => typeof each === "object"));
    const statuses = [
      ...own.filter((each) => typeof each === "number"),
      ...Object.keys(ownMeanings),
      ...commonStatuses,
    ];
    const content = { [mediaType]: { schema: { $ref: `${schemaName}#` } } };
    const sorted = [...new Set(statuses.map(Number))].toSorted((a, b) => a - b);
    return Object.fromEntries(
      sorted.map((status) => [status, { description: ownMeanings[status] ?? meanings[status], content }]),
    );
  };

export const problemResponses = errorResponses(problemMediaType, "Problem");
