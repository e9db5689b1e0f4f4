import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { ok, onRequest, pour, type Receiver, startReceiver } from "@ehr-marketplace/test-kit/raw-receiver";
import type { OutboundRequest } from "./exchange.ts";
import type { OutboundResult } from "./outbound-client.ts";
import { createOutboundClient } from "./outbound-client.ts";

interface Sending {
  receiver: Receiver;
  send: (different?: Partial<OutboundRequest>) => Promise<OutboundResult>;
}

async function sendingTo(t: TestContext, behave: (socket: Socket) => void): Promise<Sending> {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, behave);
  const client = createOutboundClient();
  cleanUp(() => client.close());
  const usual = { headers: { "content-type": "application/json" }, body: "{}", allowedNetworks: ["127.0.0.0/8"] };
  return { receiver, send: (different) => client.request({ url: receiver.url, ...usual, ...different }) };
}

const saying = (text: string) => (socket: Socket) => onRequest(socket, () => socket.write(text));

test("a receiver gets the bytes and headers as they are, its own name, and none of its cookies", async (t) => {
  const requests: string[] = [];
  const { receiver, send } = await sendingTo(t, (socket) =>
    onRequest(socket, (request) => {
      requests.push(request);
      socket.write(ok("fine", "Set-Cookie: a=b\r\n"));
    }),
  );
  const body = JSON.stringify({ name: "Ärztehaus 医者 🩺" });
  const url = `${receiver.url}?all=1#part`;
  for (let time = 0; time < 2; time += 1) {
    const { durationMs, ...sent } = await send({ url, body });
    assert.deepEqual(sent, { outcome: "responded", statusCode: 200, retryAfterMs: null, snippet: "fine", text: null });
    assert.ok(Number.isInteger(durationMs) && durationMs >= 0 && durationMs < 5_000, `${durationMs} ms`);
    assert.deepEqual(requests[time]?.split("\r\n"), [
      "POST /hooks?all=1 HTTP/1.1",
      `host: 127.0.0.1:${receiver.port}`,
      "connection: keep-alive",
      "content-type: application/json",
      `content-length: ${Buffer.byteLength(body)}`,
      "",
      body,
    ]);
  }
});

test("a body up to the limit is read to its end, and the connection is reused", async (t) => {
  const { receiver, send } = await sendingTo(t, saying(ok("x".repeat(65_536))));
  for (let time = 0; time < 2; time += 1) {
    const sent = await send();
    assert.equal(sent.outcome === "responded" && sent.snippet, "x".repeat(4_096));
  }
  assert.equal(receiver.connections.length, 1);
});

test("a response is read completely if its headers come in two parts, the second with all of the body", async (t) => {
  const [first = "", ...rest] = ok("x".repeat(65_536)).split("\r\n");
  const { send } = await sendingTo(t, (socket) =>
    onRequest(socket, () => {
      socket.write(`${first}\r\n`, () => setImmediate(() => socket.write(rest.join("\r\n"))));
    }),
  );
  const sent = await send();
  assert.equal(sent.outcome === "responded" && sent.snippet, "x".repeat(4_096));
});

test("a longer response counts, but its connection is closed", async (t) => {
  const { receiver, send } = await sendingTo(t, saying(ok("x".repeat(65_537))));
  for (let time = 0; time < 2; time += 1) {
    const sent = await send();
    assert.equal(sent.outcome === "responded" && sent.snippet, "x".repeat(4_096));
  }
  assert.equal(receiver.connections.length, 2);
});

test("of an endless response little more than the limit is read", async (t) => {
  const { receiver, send } = await sendingTo(t, (socket) =>
    onRequest(socket, () => socket.write("HTTP/1.1 200 OK\r\n\r\n", () => pour(socket, "x".repeat(65_536)))),
  );
  assert.equal((await send()).outcome, "responded");
  await eventually("the connection is gone", 3_000, () => receiver.open() === 0);
  const [taken = 0] = receiver.connections.map(({ bytesWritten }) => bytesWritten);
  // The system's buffers on both sides hold some megabytes before anyone waits.
  assert.ok(taken < 16 * 1_048_576, `${taken} bytes`);
});

test("a receiver that responds before it reads gets its next request over another connection", async (t) => {
  const { receiver, send } = await sendingTo(t, (socket) => socket.pause().write(ok("early")));
  const body = JSON.stringify({ large: "x".repeat(16 * 1_048_576) });
  for (let time = 0; time < 2; time += 1) assert.equal((await send({ body })).outcome, "responded");
  assert.equal(receiver.connections.length, 2);
});

test("a busy receiver says when to retry", async (t) => {
  const { send } = await sendingTo(
    t,
    saying("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n"),
  );
  const sent = await send();
  assert.equal(sent.outcome === "responded" && sent.retryAfterMs, 120_000);
});

test("headers that can't be sent are one failure, and no connection is left behind", async (t) => {
  const { receiver, send } = await sendingTo(t, saying(ok()));
  for (const headers of [{ "x-evil": "a\r\nb: c" }, { "x evil": "a" }, { "transfer-encoding": "chunked" }]) {
    const sent = await send({ headers });
    assert.equal(sent.outcome === "failed" && `${sent.stage}: ${sent.reason}`, "headers: request-invalid");
  }
  await eventually("no connection is left", 3_000, () => receiver.open() === 0);
});
