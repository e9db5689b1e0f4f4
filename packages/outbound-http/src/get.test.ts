import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { ok, onRequest, pour, type Receiver, startReceiver } from "@ehr-marketplace/test-kit/raw-receiver";
import { createOutboundClient, type OutboundResult } from "./outbound-client.ts";

const megabyte = "x".repeat(1_048_576);
const saying = (text: string | Buffer) => (socket: Socket) => onRequest(socket, () => socket.write(text));
const pouring = (head: string) => (socket: Socket) =>
  onRequest(socket, () => socket.write(head, () => pour(socket, megabyte)));
const textOf = (sent: OutboundResult): string | null =>
  sent.outcome === "failed" ? `${sent.stage}: ${sent.reason}` : sent.text;

async function getFrom(
  t: TestContext,
  behave: (socket: Socket) => void,
  { allowedNetworks = ["127.0.0.0/8"], ...options }: { timeoutMs?: number; allowedNetworks?: string[] } = {},
): Promise<{ receiver: Receiver; get: () => Promise<OutboundResult> }> {
  const cleanUp = cleanUpAfter(t);
  const receiver = await startReceiver(cleanUp, behave);
  const client = createOutboundClient({ timeoutMs: 5_000, ...options });
  cleanUp(() => client.close());
  const request = { url: receiver.url, headers: { accept: "application/json" }, body: null, allowedNetworks };
  return { receiver, get: () => client.request(request) };
}

test("a GET has no body and returns that of the response as it is, over a connection that is reused", async (t) => {
  const requests: string[] = [];
  const body = `{"name":"Ärztehaus 医者 🩺","padding":"${"\u0001".repeat(8_192)}"}`;
  const { receiver, get } = await getFrom(t, (socket) =>
    onRequest(socket, (request) => {
      requests.push(request);
      socket.write(ok(body));
    }),
  );
  for (let time = 0; time < 2; time += 1) {
    const sent = await get();
    assert.equal(textOf(sent), body);
    assert.ok(sent.outcome === "responded" && sent.snippet.startsWith('{"name":"Ärztehaus 医者 🩺","padding":"\ufffd'));
    assert.deepEqual(requests[time]?.split("\r\n"), [
      "GET /hooks HTTP/1.1",
      `host: 127.0.0.1:${receiver.port}`,
      "connection: keep-alive",
      "accept: application/json",
      "",
      "",
    ]);
  }
  assert.equal(receiver.connections.length, 1);
});

test("a body that comes in many parts is returned as a whole", async (t) => {
  const parts = Array.from({ length: 5_000 }, (_, nth) => String(nth % 10));
  const chunks = parts.map((part) => `1\r\n${part}\r\n`).join("");
  const { get } = await getFrom(t, saying(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`));
  assert.equal(textOf(await get()), parts.join(""));
});

test("a body up to the limit is returned, and nothing of a longer one", async (t) => {
  const longest = await getFrom(t, saying(ok("x".repeat(65_536))));
  assert.equal(textOf(await longest.get()), "x".repeat(65_536));
  const longer = await getFrom(t, saying(ok("x".repeat(65_537))));
  assert.equal(textOf(await longer.get()), null);
});

test("nothing of an endless body is returned, nor of one with endless framing", async (t) => {
  for (const head of [
    "HTTP/1.1 200 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n1;",
    "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
  ]) {
    const { receiver, get } = await getFrom(t, pouring(head));
    const sent = await get();
    assert.equal(sent.outcome === "responded" && sent.statusCode, 200);
    assert.equal(textOf(sent), null);
    await eventually("the connection is gone", 3_000, () => receiver.open() === 0);
  }
});

test("a body that isn't complete at the deadline, or is broken off, is a failure", async (t) => {
  const partial = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{";
  const slow = await getFrom(t, saying(partial), { timeoutMs: 2_000 });
  assert.equal(textOf(await slow.get()), "body: timed-out");
  const broken = await getFrom(t, (socket) => onRequest(socket, () => socket.end(partial)));
  assert.equal(textOf(await broken.get()), "body: connection-closed");
});

test("a redirect isn't followed, and a response without a body is an empty text", async (t) => {
  const location = "Location: http://169.254.169.254/\r\n";
  const redirecting = await getFrom(t, saying(`HTTP/1.1 302 Found\r\n${location}Content-Length: 0\r\n\r\n`));
  const sent = await redirecting.get();
  assert.equal(sent.outcome === "responded" && sent.statusCode, 302);
  assert.equal(textOf(sent), "");
  const empty = await getFrom(t, saying("HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nab"));
  assert.equal(textOf(await empty.get()), "");
});

test("addresses are checked as for a POST", async (t) => {
  const { receiver, get } = await getFrom(t, saying(ok()), { allowedNetworks: [] });
  assert.equal(textOf(await get()), "address: plain-http-not-allowed");
  const elsewhere = await getFrom(t, saying(ok()), { allowedNetworks: ["10.0.0.0/8"] });
  assert.equal(textOf(await elsewhere.get()), "address: address-not-allowed");
  assert.equal(receiver.connections.length + elsewhere.receiver.connections.length, 0);
});
