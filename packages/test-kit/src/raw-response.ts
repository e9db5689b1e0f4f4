import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyInstance } from "fastify";

/** Checks the headers that every response has: security headers and the request's id. */
export function assertSecurityHeaders(response: Response, instance?: unknown): void {
  assert.equal(response.headers.get("x-content-type-options"), "nosniff");
  assert.match(String(response.headers.get("strict-transport-security")), /^max-age=31536000/);
  assert.match(String(response.headers.get("content-security-policy")), /default-src 'none'.*frame-ancestors 'none'/);
  assert.match(String(response.headers.get("x-request-id")), /^[\w.-]{1,64}$/);
  if (instance !== undefined) assert.equal(instance, response.headers.get("x-request-id"));
}

/** Sends bytes without an HTTP client, which would correct them; each chunk arrives before the next is written. */
export async function rawResponse(
  target: { url: string; server: FastifyInstance },
  ...chunks: string[]
): Promise<Response> {
  const accepted: Promise<Socket[]> = once(target.server.server, "connection");
  const socket = connect(Number(new URL(target.url).port), "127.0.0.1");
  const response = readResponse(socket);
  const [serverSide] = await accepted;
  for (const chunk of chunks) {
    socket.write(chunk, "latin1");
    const hasArrived = (): boolean => serverSide === undefined || serverSide.bytesRead >= socket.bytesWritten;
    while (!hasArrived() && !socket.destroyed) await nextTurn();
  }
  return response;
}

/** Reads until the server closes the connection. A reset is a failure: the client must be able to read the response. */
export async function readResponse(socket: Socket): Promise<Response> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(socket, "end");
  socket.destroy();
  return parseResponse(Buffer.concat(chunks).toString("utf8"));
}

function parseResponse(text: string): Response {
  const headEnds = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, headEnds).split("\r\n");
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  return new Response(text.slice(headEnds + 4), { status, headers });
}
