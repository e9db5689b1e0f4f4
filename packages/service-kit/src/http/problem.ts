import type { ProblemDocument } from "@ehr-marketplace/contracts";

/** One kind of error, documented at its `type`; a client may rely on its code for ever. */
export interface ProblemKind {
  code: string;
  status: number;
  title: string;
  advice: string;
}

export interface InvalidInput {
  pointer: string;
  detail: string;
}

/** A name as one step of a JSON Pointer. */
export function escapedForPointer(name: string): string {
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

/** How a service writes its errors: every one of them, also those of Node's parser. */
export interface ErrorShape {
  mediaType: string;
  write(problem: Problem, requestId: string): string;
}

export const problemShape: ErrorShape = {
  mediaType: problemMediaType,
  write: (problem, requestId) => JSON.stringify(problem.toDocument(requestId)),
};

/** The answers that any route may give beside its own, for the API reference. */
const anyRoute = [400, 408, 414, 429, 431, 500, 503] as const;

const meanings: Record<number, string> = {
  400: "The request is malformed or invalid",
  401: "No token, or one that isn't valid",
  403: "Not allowed to this caller",
  404: "What is asked for doesn't exist, or isn't yours",
  405: "The method is not allowed here; `Allow` lists those that are",
  408: "The request took too long to arrive",
  409: "In conflict with the current state",
  410: "Gone for good",
  413: "The body is too large",
  414: "The URL is too long",
  415: "The body's media type is not supported",
  422: "Well-formed, but it names something that can't be used",
  429: "Too many requests; try again after `Retry-After` seconds",
  431: "The headers are too large",
  500: "An error on our side; quote the response's `X-Request-Id` when you report it",
  503: "Overloaded, or something that the service needs is unavailable; try again after `Retry-After` seconds",
};

/** An answer of the shape that is named, for the API reference. */
export const answerOf = (description: string, name: string): object => ({
  description,
  content: { "application/json": { schema: { $ref: `${name}#` } } },
});

/**
 * The errors of a route, for the API reference of a service that writes them in this shape: statuses, and, where a status means
 * something particular on this route, a description of its own.
 */
export const errorResponses =
  (mediaType: string, schemaName: string) =>
  (...own: (number | Record<number, string>)[]): Record<number, object> => {
    const ownMeanings: Record<number, string> = Object.assign({}, ...own.filter((each) => typeof each === "object"));
    const statuses = [...own.filter((each) => typeof each === "number"), ...Object.keys(ownMeanings), ...anyRoute];
    const content = { [mediaType]: { schema: { $ref: `${schemaName}#` } } };
    const sorted = [...new Set(statuses.map(Number))].toSorted((a, b) => a - b);
    return Object.fromEntries(
      sorted.map((status) => [status, { description: ownMeanings[status] ?? meanings[status], content }]),
    );
  };

export const problemResponses = errorResponses(problemMediaType, "Problem");
