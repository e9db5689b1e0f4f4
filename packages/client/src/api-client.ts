import { ApiError, toApiError } from "./api-error.ts";

/** An operation of a document, as `npm run generate` lists them by method and path. */
interface OperationTypes {
  request: { body?: unknown; headers?: unknown; path?: unknown; query?: unknown };
  /** By status. */
  responses: object;
}

type Defined<T> = {
  [Name in keyof T as undefined extends T[Name] ? (T[Name] extends undefined ? never : Name) : Name]: T[Name];
};
/** What a call gives: the parts that the operation has, and a signal that aborts it. */
type CallInput<Request> = Omit<Defined<Request>, "url"> & { signal?: AbortSignal | undefined };
/** The input may be left out if all of it may. */
type CallArguments<Request> =
  { signal: undefined } extends CallInput<Request> ? [input?: CallInput<Request>] : [input: CallInput<Request>];

type ResponseOf<Responses> = Responses[keyof Responses];

export type ApiClient<Operations> = <Name extends keyof Operations & string>(
  operation: Name,
  ...input: CallArguments<(Operations[Name] & OperationTypes)["request"]>
) => Promise<ResponseOf<(Operations[Name] & OperationTypes)["responses"]>>;

export interface ApiClientOptions {
  /** Where the API is, such as "/bff/marketplace" in our own pages. */
  baseUrl: string;
  /** Sent with each request. */
  headers: Record<string, string>;
  fetch: (request: Request) => Promise<Response>;
}

interface AnyInput {
  body?: unknown;
  headers?: Record<string, string | undefined>;
  path?: Record<string, string>;
  query?: Record<string, string | number | boolean | null | undefined>;
  signal?: AbortSignal | undefined;
}

/**
 * Calls the operations of an API: `api("GET /apps/{slug}", { path: { slug } })` resolves to the response's body. Rejects with an
 * `ApiError` if the response isn't a success, or if there is none.
 */
export function createApiClient<Operations>(options: ApiClientOptions): ApiClient<Operations> {
  const call = async (operation: string, input: AnyInput = {}): Promise<unknown> => {
    const request = buildRequest(operation, input, options);
    let response: Response;
    try {
      response = await options.fetch(request);
    } catch (error) {
      if (request.signal.aborted) throw error;
      const detail = error instanceof Error ? error.message : "No response was received.";
      throw new ApiError(detail, { status: 0, code: "unreachable" });
    }
    const body = await readBody(response);
    if (!response.ok) throw toApiError(response, body);
    return body;
  };
  return call as ApiClient<Operations>;
}

/** `encodeURIComponent` keeps dots, with which a URL leads to another path; without a value, the path is that of another operation. */
function encodeParameter(name: string, value = ""): string {
  if (["", ".", ".."].includes(value)) throw new TypeError(`The parameter ${name} can't be ${JSON.stringify(value)}.`);
  return encodeURIComponent(value);
}

function buildRequest(operation: string, input: AnyInput, { baseUrl, headers: common }: ApiClientOptions): Request {
  const [method = "", template = ""] = operation.split(" ");
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeParameter(name, input.path?.[name]));
  const query = new URLSearchParams(
    Object.entries(input.query ?? {}).flatMap(([name, value]): [string, string][] =>
      value === null || value === undefined ? [] : [[name, String(value)]],
    ),
  ).toString();
  const headers = new Headers(common);
  for (const [name, value] of Object.entries(input.headers ?? {})) if (value !== undefined) headers.set(name, value);
  const hasBody = input.body !== undefined;
  if (hasBody) headers.set("content-type", "application/json");
  return new Request(`${baseUrl}${path}${query === "" ? "" : `?${query}`}`, {
    method,
    headers,
    ...(hasBody && { body: JSON.stringify(input.body) }),
    ...(input.signal !== undefined && { signal: input.signal }),
  });
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text();
  if (!/\bjson\b/.test(response.headers.get("content-type") ?? "")) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Cut off on its way.
    return text;
  }
}
