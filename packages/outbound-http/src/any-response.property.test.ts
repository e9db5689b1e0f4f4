import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { cleanUpAfter, rounds } from "@ehr-marketplace/test-kit";
import { onRequest, startReceiver } from "@ehr-marketplace/test-kit/raw-receiver";
import fc from "fast-check";
import { createOutboundClient } from "./outbound-client.ts";

const fragments = [
  "HTTP/1.1 200 OK\r\n",
  "HTTP/1.1 204 No Content\r\n",
  "HTTP/1.0 500 Oops\r\n",
  "HTTP/1.1 100 Continue\r\n\r\n",
  "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
  "HTTP/1.1 103 Early Hints\r\n\r\n",
  "HTTP/1.1 304 Not Modified\r\n",
  "Content-Length: 5\r\n",
  "Content-Length: 0\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Transfer-Encoding: gzip, chunked\r\n",
  "Connection: close\r\n",
  "Connection: keep-alive\r\nKeep-Alive: timeout=1\r\n",
  "Retry-After: 5\r\nRetry-After: 6\r\n",
  "__proto__: x\r\n",
  "Trailer: x\r\n",
  "\r\n",
  "hello",
  "5\r\nhello\r\n",
  "0\r\n\r\n",
  "0\r\nX: y\r\n\r\n",
  "\0",
  "\r",
  "\n",
  " ",
];
const piece = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...fragments).map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 20 }).map((bytes) => Buffer.from(bytes)) },
);
interface Script {
  pieces: Buffer[];
  ending: "stay" | "close" | "reset";
  /** Whether it begins before the request has come. */
  unsolicited: boolean;
}
const ending = fc.constantFrom("stay" as const, "close" as const, "reset" as const);
const script: fc.Arbitrary<Script> = fc.record({
  pieces: fc.array(piece, { maxLength: 8 }),
  ending,
  unsolicited: fc.boolean(),
});

test("whatever bytes a receiver responds with, each request has one result, and the client still works", async (t) => {
  const cleanUp = cleanUpAfter(t);
  let played: Script = { pieces: [], ending: "close", unsolicited: false };
  const play = async (socket: Socket): Promise<void> => {
    const { pieces, ending: end } = played;
    for (const bytes of pieces) {
      if (socket.destroyed) return;
      socket.write(bytes);
      await new Promise(setImmediate);
    }
    if (end === "close") socket.end();
    if (end === "reset") socket.resetAndDestroy();
  };
  const receiver = await startReceiver(cleanUp, (socket) => {
    if (played.unsolicited) void play(socket);
    onRequest(socket, () => void play(socket));
  });
  const client = createOutboundClient({ timeoutMs: 20 });
  cleanUp(() => client.close());
  await fc.assert(
    fc.asyncProperty(script, async (next) => {
      played = next;
      for (let time = 0; time < 2; time += 1) {
        const sent = await client.request({
          url: receiver.url,
          headers: {},
          body: "{}",
          allowedNetworks: ["127.0.0.0/8"],
        });
        if (sent.outcome === "responded") assert.ok(sent.statusCode >= 200 && sent.statusCode <= 999);
        else assert.notEqual(sent.stage, "address");
      }
    }),
    { numRuns: rounds(100, 5_000) },
  );
});
