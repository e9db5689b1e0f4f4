import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyInstance } from "fastify";

/** What every answer has, whoever gives it: the headers that protect its reader, and the id of its request. */
export function assertGuarded(answer: Response, instance?: unknown): void {
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  assert.match(String(answer.headers.get("strict-transport-security")), /^max-age=31536000/);
  assert.match(String(answer.headers.get("content-security-policy")), /default-src 'none'.*frame-ancestors 'none'/);
  assert.match(String(answer.headers.get("x-request-id")), /^[\w.-]{1,64}$/);
  if (instance !== undefined) assert.equal(instance, answer.headers.get("x-request-id"));
}

/** Writes the bytes as they are, past anything that a client would correct; each piece arrives by itself. */
export async function rawAnswer(to: { url: string; server: FastifyInstance }, ...pieces: string[]): Promise<Response> {
  const accepted: Promise<Socket[]> = once(to.server.server, "connection");
  const socket = connect(Number(new URL(to.url).port), "127.0.0.1");
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
