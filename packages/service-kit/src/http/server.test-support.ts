import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { createLogger } from "../telemetry/logger.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import { startTracing } from "../telemetry/tracing.ts";
import { createServer, type ServerOptions } from "./server.ts";

export interface TestServer {
  url: string;
  port: number;
  server: FastifyInstance;
  metrics: Metrics;
  /** Every line logged so far, parsed. */
  logged: Record<string, unknown>[];
}

export interface TestServerOptions extends Omit<Partial<ServerOptions>, "limits"> {
  limits?: Partial<ServerOptions["limits"]>;
  routes?: (server: FastifyInstance) => unknown;
  host?: string;
  /** Routes state who may use them, as in a service. */
  closed?: boolean;
}

export const limits = { bodyBytes: 1_048_576, urlBytes: 8_192, requestMs: 10_000, eventLoopDelayMs: 1_000 };

/** The server that every service gets, on a port of its own, with a few routes of the test's. */
export async function startTestServer(
  after: (stop: () => Promise<unknown>) => void,
  options: TestServerOptions = {},
): Promise<TestServer> {
  const { routes, host = "127.0.0.1", closed = false, ...given } = options;
  const logged: Record<string, unknown>[] = [];
  const metrics = createMetrics("test");
  const server = await createServer({
    logger: createLogger({ service: "test", level: "info" }, { write: (line) => logged.push(JSON.parse(line)) }),
    metrics,
    tracing: await startTracing("test", undefined),
    metricsToken: undefined,
    trustedProxies: [],
    readiness: () => Promise.resolve(undefined),
    problems: [],
    access: {
      verify: () => Promise.reject(new Error("this server knows no token")),
      requestsPerMinute: 1_000_000,
      refusedTokensPerMinute: 1_000_000,
    },
    ...given,
    limits: { ...limits, ...options.limits },
  });
  // Most tests are about something else: a route that states nothing is open.
  server.addHook("onRoute", (route) => {
    if (!closed) route.config = { access: "anyone", ...route.config };
  });
  await routes?.(server);
  const url = await server.listen({ host, port: 0 });
  after(() => {
    server.server.closeAllConnections();
    return server.close();
  });
  return { url, port: Number(new URL(url).port), server, metrics, logged };
}

/** What every answer has, whoever gives it: the headers that protect its reader, and the id of its request. */
export function assertGuarded(answer: Response, instance?: unknown): void {
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  assert.match(String(answer.headers.get("strict-transport-security")), /^max-age=31536000/);
  assert.match(String(answer.headers.get("content-security-policy")), /default-src 'none'.*frame-ancestors 'none'/);
  assert.match(String(answer.headers.get("x-request-id")), /^[\w.-]{1,64}$/);
  if (instance !== undefined) assert.equal(instance, answer.headers.get("x-request-id"));
}

/** Writes the bytes as they are, past anything that a client would correct; each piece arrives by itself. */
export async function rawAnswer(to: TestServer, ...pieces: string[]): Promise<Response> {
  const accepted: Promise<Socket[]> = once(to.server.server, "connection");
  const socket = connect(to.port, "127.0.0.1");
  const answer = answerFrom(socket);
  const [serverSide] = await accepted;
  for (const piece of pieces) {
    socket.write(piece, "latin1");
    const hasArrived = (): boolean => serverSide === undefined || serverSide.bytesRead >= socket.bytesWritten;
    while (!hasArrived() && !socket.destroyed) await nextTurn();
  }
  return answer;
}

/** Reads until the server closes. A reset counts as a failure: whoever is refused must be able to read why. */
export async function answerFrom(socket: Socket): Promise<Response> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(socket, "end");
  socket.destroy();
  return parseAnswer(Buffer.concat(chunks).toString("utf8"));
}

function parseAnswer(text: string): Response {
  const headEnds = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, headEnds).split("\r\n");
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  return new Response(text.slice(headEnds + 4), { status, headers });
}
