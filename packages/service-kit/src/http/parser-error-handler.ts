import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { ConnectionError } from "fastify";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { LogHash } from "./observe-requests.ts";
import { type ErrorShape, Problem, type ProblemKind } from "./problem.ts";
import { networkOf } from "./rate-limit.ts";
import { securityHeaders } from "./request-guards.ts";
import { standardProblems } from "./standard-problems.ts";

const lingerMs = 2_000;
const malformed =
  "The request is not valid HTTP/1.1. Correct its request line, its headers or the length of its body, and retry.";

/**
 * Node counts the URL and the headers together, and passes only the packet in which the limit was exceeded. If the URL begins or
 * ends in that packet, the result is exact; for a packet from the middle of a URL it is a heuristic.
 */
function exceededInUrl(packet: string, parsed: number, urlBytes: number): boolean {
  if (packet.startsWith(" HTTP/", parsed)) return true;
  if (/^[A-Z-]+ [^ ]/.test(packet)) return !packet.slice(0, urlBytes + "OPTIONS  HTTP/1.1\r\n".length).includes("\n");
  return /[&%]/.test(packet) && !/\s/.test(packet);
}

function classifyError(error: ConnectionError, urlBytes: number): ProblemKind {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW": {
      // Fastify's type is wrong: Node passes a Buffer.
      const packet = (error.rawPacket as unknown as Buffer).toString("latin1");
      const inUrl = exceededInUrl(packet, error.bytesParsed, urlBytes);
      return inUrl ? standardProblems.uriTooLong : standardProblems.headersTooLarge;
    }
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return standardProblems.requestTimeout;
    default:
      return standardProblems.invalidRequest;
  }
}

function buildResponse(kind: ProblemKind, requestId: string, shape: ErrorShape): string {
  const isMalformed = kind === standardProblems.invalidRequest;
  const body = shape.write(new Problem(kind, isMalformed ? malformed : kind.advice), requestId);
  const headers = {
    ...securityHeaders,
    "content-type": shape.mediaType,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-request-id": requestId,
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${kind.status} ${STATUS_CODES[kind.status]}\r\n${lines.join("")}\r\n${body}`;
}

interface ParserErrorHandlerOptions {
  urlBytes: number;
  shape: ErrorShape;
  metrics: Metrics;
  logger: Logger;
  logHash: LogHash;
}

/** Handles requests that Node's parser refuses before routing. The response has the service's error shape; no hook runs for it. */
export function createParserErrorHandler(
  options: ParserErrorHandlerOptions,
): (error: ConnectionError, socket: Socket) => void {
  const { urlBytes, shape, metrics, logger, logHash } = options;
  const refusedSockets = new WeakSet<Socket>();
  return (error, socket) => {
    if (refusedSockets.has(socket)) return;
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    refusedSockets.add(socket);
    const kind = classifyError(error, urlBytes);
    const requestId = randomUUID();
    metrics.countParserRefusal(kind.code);
    logger.info(
      {
        requestId,
        status: kind.status,
        code: kind.code,
        reason: error.code,
        // The address of the connection; behind a proxy it is the proxy's.
        addressHash: socket.remoteAddress && logHash(networkOf(socket.remoteAddress)),
      },
      "request refused by the HTTP parser",
    );
    socket.end(buildResponse(kind, requestId, shape));
    // Closing while the client is still sending would reset the connection before the client has read the response.
    const closeTimer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once("close", () => clearTimeout(closeTimer));
  };
}
