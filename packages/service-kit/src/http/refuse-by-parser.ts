import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { ConnectionError } from "fastify";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { securityHeaders } from "./guard-requests.ts";
import type { LogHash } from "./observe-requests.ts";
import { type ErrorShape, Problem, type ProblemKind } from "./problem.ts";
import { addressCounted } from "./rate-limit.ts";
import { standardProblems } from "./standard-problems.ts";

const lingerMs = 2_000;
const malformed =
  "The request is not valid HTTP/1.1. Correct its request line, its headers or the length of its body, and send it again.";

/**
 * Node counts the URL and the headers together, and hands out only the piece of the request in which the count ran
 * over: whether that was still the URL is seen where the URL begins or ends in it, and is guessed in between.
 */
function ranOverInUrl(piece: string, parsed: number, urlBytes: number): boolean {
  if (piece.startsWith(" HTTP/", parsed)) return true;
  if (/^[A-Z-]+ [^ ]/.test(piece)) return !piece.slice(0, urlBytes + "OPTIONS  HTTP/1.1\r\n".length).includes("\n");
  return /[&%]/.test(piece) && !/\s/.test(piece);
}

function kindOf(error: ConnectionError, urlBytes: number): ProblemKind {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW": {
      // Fastify's type says otherwise; Node hands out the bytes themselves.
      const piece = (error.rawPacket as unknown as Buffer).toString("latin1");
      const inUrl = ranOverInUrl(piece, error.bytesParsed, urlBytes);
      return inUrl ? standardProblems.uriTooLong : standardProblems.headersTooLarge;
    }
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return standardProblems.requestTimeout;
    default:
      return standardProblems.invalidRequest;
  }
}

function refusal(kind: ProblemKind, requestId: string, shape: ErrorShape): string {
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

interface RefuseByParserOptions {
  urlBytes: number;
  shape: ErrorShape;
  metrics: Metrics;
  logger: Logger;
  logHash: LogHash;
}

/** Node's parser refuses before any route is found: the answer has the same shape all the same, and no hook observes it. */
export function refuseByParser(options: RefuseByParserOptions): (error: ConnectionError, socket: Socket) => void {
  const { urlBytes, shape, metrics, logger, logHash } = options;
  const refused = new WeakSet<Socket>();
  return (error, socket) => {
    if (refused.has(socket)) return;
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    refused.add(socket);
    const kind = kindOf(error, urlBytes);
    const requestId = randomUUID();
    metrics.countParserRefusal(kind.code);
    logger.info(
      {
        requestId,
        status: kind.status,
        code: kind.code,
        reason: error.code,
        // Of the connection: behind a proxy, the proxy's.
        addressHash: socket.remoteAddress && logHash(addressCounted(socket.remoteAddress)),
      },
      "request refused by the HTTP parser",
    );
    socket.end(refusal(kind, requestId, shape));
    // To close on a client that is still sending would reset the connection before it has read why it is refused.
    const lingering = setTimeout(() => socket.destroy(), lingerMs);
    socket.once("close", () => clearTimeout(lingering));
  };
}
