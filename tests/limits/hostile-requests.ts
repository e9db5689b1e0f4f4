import { maxImportLineBytes, maxImportLines } from "@ehr-marketplace/contracts";
import type { FastifyInstance } from "fastify";
import type { RawRequest } from "./event-loop.ts";
import {
  hostileBodies,
  hostileFields,
  hostileHeaders,
  hostileParameters,
  hostilePaths,
  hostileQueries,
  type Input,
  type Schema,
} from "./hostile-inputs.ts";

export type ServedRoute = FastifyInstance["routesAndAccess"][number];

export const routeOf = ({ method, url }: Pick<ServedRoute, "method" | "url">): string => `${method} ${url}`;
/** HEAD runs the same code as GET. */
export const isHead = (route: string): boolean => route.startsWith("HEAD ");

/** An authorised request. */
export interface ValidRequest {
  path: string;
  headers: Record<string, string>;
  body?: object | undefined;
  /** Set where the handler validates the body instead of the route's schema. */
  bodySchema?: Schema;
  /** Set where the body is lines of such objects: the field that differs between lines. */
  lineKey?: string;
  /** Headers that depend on the body, such as a signature. */
  headersFor?: (body: string) => Record<string, string>;
}

const maxUrlBytes = 8_192;
const bodiless = new Set(["GET", "HEAD", "OPTIONS"]);

/** Generates expensive requests to a route, each as large as the route reads. The first one is the valid request. */
export function hostileRequests(route: ServedRoute, valid: ValidRequest): [name: string, sent: RawRequest][] {
  const { method, url, schema = {}, maxBodyBytes } = route;
  const request = (change: Partial<RawRequest>): RawRequest => {
    const sent = { method, path: valid.path, ...bodyOf(valid), ...change };
    const bodyHeaders = sent.body === undefined ? {} : { "content-type": "application/json" };
    const ofBody = sent.body === undefined ? {} : valid.headersFor?.(sent.body);
    return { ...sent, headers: { ...bodyHeaders, ...valid.headers, ...ofBody, ...change.headers } };
  };
  const [path = "", query] = valid.path.split("?");
  const prefix = query === undefined ? `${path}?` : `${path}?${query}&`;
  const bodySchema = valid.bodySchema ?? (schema.body as Schema);
  const bodiesOf = (bytes: number): Input[] => [
    ...hostileBodies(bytes),
    ...(valid.body === undefined || valid.body instanceof Uint8Array
      ? []
      : hostileFields(bodySchema, valid.body, bytes)),
  ];
  const bodies = [...bodiesOf(maxBodyBytes), ...hostileLines(valid, maxBodyBytes, bodiesOf)];
  const queries = hostileQueries(maxUrlBytes - prefix.length).map(([name, text]) => [name, prefix + text] as const);
  const parameters = hostileParameters((schema.querystring ?? {}) as Schema, maxUrlBytes - path.length - 1).map(
    ([name, text]) => [name, `${path}?${text}`] as const,
  );
  const paths = hostilePaths(url, schema.params as Schema | undefined, maxUrlBytes);
  return [
    ["the valid request", request({})],
    ...(bodiless.has(method) ? [] : bodies.map(([name, body]): [string, RawRequest] => [name, request({ body })])),
    ...[...queries, ...parameters, ...paths].map(([name, hostile]): [string, RawRequest] => [
      name,
      request({ path: hostile }),
    ]),
    ...hostileHeaders(schema.headers as Schema | undefined).map(([name, value]): [string, RawRequest] => [
      `the header ${name}: ${value.slice(0, 40)}…`,
      request({ headers: { [name]: value } }),
    ]),
  ];
}

/** Bodies of as many lines as an import reads, each as long as possible, with different keys so that each is validated. */
function hostileLines(
  { body = {}, lineKey }: ValidRequest,
  bytes: number,
  bodiesOf: (bytes: number) => Input[],
): Input[] {
  if (lineKey === undefined) return [];
  const key = String((body as Record<string, unknown>)[lineKey]);
  const repeated = (text: string): string => {
    const maxKeyDigits = 4;
    const length = Math.floor(bytes / (Buffer.byteLength(text) + maxKeyDigits + 1));
    return Array.from({ length: Math.min(length, maxImportLines) }, (_, index) =>
      text.replace(key, key.slice(0, -maxKeyDigits) + String(index).padStart(maxKeyDigits, "0")),
    ).join("\n");
  };
  // Fields as long as their schema allows, with which a request of the most lines is as large as can be.
  const sizes = [maxImportLineBytes, Math.floor(bytes / maxImportLines) - 10];
  return [
    ["as many valid lines as possible", repeated(JSON.stringify(body))],
    ["the same lines again", repeated(JSON.stringify(body))],
    ["nothing but newlines", "\n".repeat(bytes)],
    ...sizes.flatMap((size) => bodiesOf(size).map(([name, text]): Input => [`lines of ${name}`, repeated(text)])),
  ];
}

function bodyOf({ body }: ValidRequest): { body?: string } {
  if (body === undefined) return {};
  return { body: body instanceof Uint8Array ? Buffer.from(body).toString() : JSON.stringify(body) };
}
