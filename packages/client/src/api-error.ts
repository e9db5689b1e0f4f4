/** What an API says about an error: a problem document (RFC 9457) of the marketplace or the web, or the envelope of the EHR. */
export interface InvalidInput {
  /** JSON Pointer to the invalid input. */
  pointer: string;
  detail: string;
}

/** A response that isn't a success, or none at all: then `status` is 0. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** Of a problem document; "unreachable" without a response. */
  readonly code: string | undefined;
  readonly title: string | undefined;
  /** To quote when the error is reported. */
  readonly requestId: string | undefined;
  readonly errors: InvalidInput[];
  /** Of the request; undefined without a response. */
  readonly url: string | undefined;

  constructor(
    detail: string,
    {
      status,
      code,
      title,
      requestId,
      errors = [],
      url,
    }: Partial<Pick<ApiError, "code" | "title" | "requestId" | "errors" | "url">> & { status: number },
  ) {
    super(detail);
    this.status = status;
    this.code = code;
    this.title = title;
    this.requestId = requestId;
    this.errors = errors;
    this.url = url;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function readErrors(value: unknown): InvalidInput[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter(isObject)
    .map(({ pointer, detail }) => ({ pointer: textOf(pointer) ?? "", detail: textOf(detail) ?? "" }));
}

/** Reads the error of a response from its parsed body. Whatever the body is, the result has the status and the request's id. */
export function toApiError(response: Response, body: unknown): ApiError {
  const { status, url } = response;
  const requestId = response.headers.get("x-request-id") ?? undefined;
  if (!isObject(body)) return new ApiError(textOf(body) ?? response.statusText, { status, requestId, url });
  const { detail, message, code, title, instance, errors } = body;
  return new ApiError(textOf(detail) ?? textOf(message) ?? response.statusText, {
    status,
    code: textOf(code),
    title: textOf(title),
    requestId: textOf(instance) ?? requestId,
    errors: readErrors(errors),
    url,
  });
}
