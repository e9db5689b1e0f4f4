import type { IncomingMessage } from "node:http";
import { type Readable, Stream } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Operation } from "@ehr-marketplace/client/operations";
import {
  createKeyedTaskLimiter,
  createTaskLimiter,
  disableCaching,
  invalidRequest,
  limitRate,
  Problem,
  rateLimitProblem,
} from "@ehr-marketplace/service-kit/http";
import replyFrom from "@fastify/reply-from";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Cookies } from "../sessions/cookies.ts";
import { requireScript } from "../sessions/same-origin.ts";
import { personOf, type Session } from "../sessions/session.ts";
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
  "x-vendor-slug",
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
/** Of everybody, so that slow writes leave connections to those who only read. */
const maxWrites = connections / 2;
/** What forms send. It is read before a connection is taken, so that slow senders keep none. */
const maxSmallBytes = 65_536;
/** Files and imports pass through while they are received: so many at once, and of each person. */
const maxLarge = { total: 8, perPerson: 2 };
/** Of each person: a quarter of the connections. */
const maxForwarded = 16;
/** A list with an estimate for each row is that many requests at once. */
const maxWaiting = 200;
/** Of all persons. */
const maxTotal = 1_000;
/** Small bodies that are read at once: of each person, and of all. */
const maxReading = { perPerson: 32, total: 4_000 };
/** Shorter than a request may take, so that the error names the service. */
const headersTimeoutMs = 9_000;
/** Between two parts of a body: an export may take longer as a whole. */
const bodyTimeoutMs = 30_000;

const tooMany = (): Problem =>
  rateLimitProblem(webProblems.tooManyInProgress, "Too many of your requests are in progress.", {
    limit: maxForwarded + maxWaiting,
    retryAfterMs: 1_000,
  });

/** Whether there is anybody left to answer: a request that waits may be given up, or take too long. */
const isOver = ({ sent, raw }: FastifyReply): boolean => sent || raw.destroyed;

const closed = ({ raw }: FastifyReply): Promise<void> =>
  new Promise((resolve) => {
    if (raw.closed) resolve();
    else raw.once("close", resolve);
  });

function pick<T>(headers: Record<string, T>, names: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name.toLowerCase())));
}

const isSmall = ({ headers }: FastifyRequest): boolean => Number(headers["content-length"]) <= maxSmallBytes;

/** A page that somebody else's session has loaded doesn't act in this one. */
function requireSamePerson({ headers }: FastifyRequest, session: Session): void {
  const { "x-session-person": person } = headers;
  if (person === undefined || person === personOf(session)) return;
  throw new Problem(webProblems.sessionChanged, "The session is that of another person than the page was loaded for.");
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
  const used = new WeakMap<FastifyRequest, Session>();
  // Otherwise the slow bodies of one person would keep all connections to the API.
  const people = createKeyedTaskLimiter({ maxRunning: maxForwarded, maxWaiting, maxTotal, createProblem: tooMany });
  const writes = createTaskLimiter(maxWrites, maxTotal);
  // The HTTP client would let further ones wait without a limit of time, also those whose browser has gone.
  const all = createTaskLimiter(connections, maxTotal);
  const large = createTaskLimiter(maxLarge.total, maxTotal);
  const largeOfPerson = createKeyedTaskLimiter({
    maxRunning: maxLarge.perPerson,
    maxWaiting,
    createProblem: tooMany,
  });
  const reading = createKeyedTaskLimiter({
    maxRunning: maxReading.perPerson,
    maxWaiting: maxForwarded + maxWaiting - maxReading.perPerson,
    maxTotal: maxReading.total,
    createProblem: tooMany,
  });
  const takeTurn = (request: FastifyRequest, person: string, work: () => Promise<void>, gone: AbortSignal) => {
    const connect = (): Promise<void> => all.run(work, gone);
    const write = (): Promise<void> => writes.run(connect, gone);
    const takeOwn = (): Promise<void> => people.run(person, request.method === "GET" ? connect : write, gone);
    if (!(request.body instanceof Stream)) return takeOwn();
    return largeOfPerson.run(person, () => large.run(takeOwn, gone), gone);
  };
  disableCaching(scope);
  limitRate(scope, options.requestsPerMinute);
  // The API limits, parses and checks bodies; here they pass.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", async (request: FastifyRequest, payload: IncomingMessage) => {
    const session = used.get(request);
    return session !== undefined && isSmall(request)
      ? reading.run(personOf(session), () => buffer(payload))
      : Promise.resolve(payload);
  });
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
        requireSamePerson(request, session);
        used.set(request, session);
      },
      handler: async (request, reply) => {
        const session = used.get(request);
        if (session === undefined) throw new Error("the request has no session");
        const path = `${upstream.pathname.replace(/\/$/, "")}${pathOf(operation, request)}`;
        const gone = new AbortController();
        reply.raw.once("close", () => gone.abort());
        const work = async (): Promise<void> => {
          if (isOver(reply)) return;
          await forward(request, reply, path, session);
          await closed(reply);
        };
        try {
          await takeTurn(request, personOf(session), work, gone.signal);
        } catch (error) {
          if (!gone.signal.aborted) throw error;
        }
        return reply;
      },
    });
  }

  /** Until the API responds or fails, also if the browser has gone: until then it keeps a connection. */
  const forward = (request: FastifyRequest, reply: FastifyReply, path: string, { tokens }: Session): Promise<void> =>
    new Promise((resolve) => {
      // With the request's query.
      reply.from(path, {
        ...(Buffer.isBuffer(request.body) && {
          body: request.body,
          contentType: request.headers["content-type"] ?? "application/octet-stream",
        }),
        // Otherwise the library repeats a GET that got 503 ten times at once, while the API sheds load. It asks after each response and failure.
        retryDelay: ({ res }) => {
          // Nobody would read it, and its connection would be lost.
          if (isOver(reply))
            (res as unknown as { stream: Readable } | undefined)?.stream.on("error", () => undefined).destroy();
          resolve();
          return null;
        },
        rewriteRequestHeaders: (_raw, headers) => ({
          ...pick(headers, forwardedHeaders),
          authorization: `Bearer ${tokens.accessToken}`,
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
      });
    });
}
