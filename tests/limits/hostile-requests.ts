import type { FastifyInstance } from "fastify";
import type { RawRequest } from "./event-loop.ts";
import {
  hostileBodies,
  hostileFields,
  hostileHeaders,
  hostileParameters,
  hostilePaths,
  hostileQueries,
  type Schema,
} from "./hostile-inputs.ts";

export type ServedRoute = FastifyInstance["routesAndAccess"][number];

/** An authorised request. */
export interface ValidRequest {
  path: string;
  headers: Record<string, string>;
  body?: object | undefined;
  /** Set where the handler validates the body instead of the route's schema. */
  bodySchema?: Schema;
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
  const bodies = [
    ...hostileBodies(maxBodyBytes),
    ...(valid.body === undefined || valid.body instanceof Uint8Array
      ? []
      : hostileFields(bodySchema, valid.body, maxBodyBytes)),
  ];
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

function bodyOf({ body }: ValidRequest): { body?: string } {
  if (body === undefined) return {};
  return { body: body instanceof Uint8Array ? Buffer.from(body).toString() : JSON.stringify(body) };
}
