import type { Operation } from "@ehr-marketplace/client/operations";
import { disableCaching, invalidRequest, limitRate, Problem } from "@ehr-marketplace/service-kit/http";
import replyFrom from "@fastify/reply-from";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Cookies } from "../sessions/cookies.ts";
import { requireScript } from "../sessions/same-origin.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { webProblems } from "../web-problems.ts";

export interface ProxyOptions {
  /** For people, such as "the marketplace". */
  service: string;
  /** With the base path of the API. */
  upstreamUrl: string;
  /** What the API's document names. Nothing else is forwarded. */
  operations: readonly Operation[];
  sessions: Sessions;
  cookies: Cookies;
  publicUrl: string;
  /** Of each address. The APIs limit each user. */
  requestsPerMinute: number;
}

/** For machines only, with tokens of their own. */
const isInternal = ({ path }: Operation): boolean => path.startsWith("/internal/");

const forwardedHeaders = [
  "accept",
  "accept-language",
  "content-length",
  "content-type",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "transfer-encoding",
  "x-org-alias",
];
const returnedHeaders = [
  "content-disposition",
  "content-encoding",
  "content-length",
  "content-type",
  "deprecation",
  "etag",
  "link",
  "ratelimit-limit",
  "ratelimit-remaining",
  "ratelimit-reset",
  "retry-after",
  "sunset",
  "transfer-encoding",
  "www-authenticate",
];

const connections = 64;
const headersTimeoutMs = 15_000;
/** Between two parts of a body: an export may take longer as a whole. */
const bodyTimeoutMs = 30_000;

function pick<T>(headers: Record<string, T>, names: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name.toLowerCase())));
}

/** URLs give segments of dots a meaning of their own: they would lead to another path. */
const dots = /(?:^|[/\\])\.{1,2}(?:$|[/\\])/;

function encodeSegment(name: string, value: string): string {
  if (dots.test(value)) throw invalidRequest(`/path/${name}`, "can't be dots, nor have them between slashes");
  return encodeURIComponent(value);
}

const pathOf = ({ path }: Operation, request: FastifyRequest): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeSegment(name, (request.params as Record<string, string>)[name] ?? ""),
  );

/**
 * Forwards requests of our own pages to an API, with the session's access token. Each operation has a route, and its path is built from its parameters, so
 * no path that isn't in the document can be reached.
 */
export async function proxyRoutes(scope: FastifyInstance, options: ProxyOptions): Promise<void> {
  const { service, operations, sessions, cookies } = options;
  const upstream = new URL(options.upstreamUrl);
  const { origin } = new URL(options.publicUrl);
  const tokens = new WeakMap<FastifyRequest, string>();
  disableCaching(scope);
  limitRate(scope, options.requestsPerMinute);
  // The API limits, parses and checks bodies; here they pass.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
  await scope.register(replyFrom, {
    base: upstream.origin,
    disableRequestLogging: true,
    // It would keep URLs of requests.
    disableCache: true,
    undici: { connections, headersTimeout: headersTimeoutMs, bodyTimeout: bodyTimeoutMs },
  });

  for (const operation of operations.filter((each) => !isInternal(each))) {
    scope.route({
      method: operation.method,
      url: operation.path.replaceAll(/\{(\w+)\}/g, ":$1"),
      config: { access: "anyone" },
      exposeHeadRoute: false,
      onRequest: async (request) => {
        requireScript(request, origin);
        const session = await sessions.use(cookies.session(request));
        tokens.set(request, session.tokens.accessToken);
      },
      handler: (request, reply) =>
        // With the request's query.
        reply.from(`${upstream.pathname.replace(/\/$/, "")}${pathOf(operation, request)}`, {
          rewriteRequestHeaders: (_raw, headers) => ({
            ...pick(headers, forwardedHeaders),
            authorization: `Bearer ${tokens.get(request)}`,
            "x-forwarded-for": request.ip,
            "x-request-id": request.id,
          }),
          rewriteHeaders: (headers) => ({ ...pick(headers, returnedHeaders), "cache-control": "no-store" }),
          onError: (failed, { error }) => {
            request.log.warn({ requestId: request.id, err: error }, `failed to forward a request to ${service}`);
            const detail = `${service.charAt(0).toUpperCase()}${service.slice(1)} can't be reached, or responds too slowly.`;
            const problem = new Problem(webProblems.upstreamUnavailable, detail, { headers: { "retry-after": "2" } });
            void failed.send(problem);
          },
        }),
    });
  }
}
