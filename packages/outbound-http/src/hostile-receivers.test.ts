import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import { describe, type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { drip, ok, onRequest, pour, type Receiver, startReceiver } from "@ehr-marketplace/test-kit/raw-receiver";
import type { OutboundRequest } from "./exchange.ts";
import type { OutboundResult } from "./outbound-client.ts";
import { createOutboundClient } from "./outbound-client.ts";

/** What comes before the stage that times out must not take as long, on a busy machine either. */
const shortMs = 2_000;
/** Nothing that is expected to happen before the deadline may take as long. */
const longMs = 5_000;

const megabyte = "x".repeat(1_048_576);
const outgoing = (url: string, body = '{"event":"ping"}'): OutboundRequest => ({
  url,
  headers: { "content-type": "application/json" },
  body,
  allowedNetworks: ["127.0.0.0/8"],
});

const saying = (text: string | Buffer) => (socket: Socket) => onRequest(socket, () => socket.write(text));
const closingAfter = (text: string) => (socket: Socket) => onRequest(socket, () => socket.end(text));
const resettingAfter = (text: string) => (socket: Socket) =>
  onRequest(socket, () => socket.write(text, () => socket.resetAndDestroy()));
const then = (first: string, next: (socket: Socket) => void) => (socket: Socket) =>
  onRequest(socket, () => socket.write(first, () => next(socket)));

const head = "HTTP/1.1 200 OK\r\n";
const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;
const bomb = gzipSync(Buffer.alloc(50 * 1_048_576));

type Expected = string | { statusCode: number; snippet?: string };

/** Each misbehaves in its own way on one request; expected is `stage: reason`, or the response. */
const receivers: Record<string, [(socket: Socket) => void, Expected]> = {
  "never responds": [(socket) => socket.resume(), "headers: timed-out"],
  "sends its headers one byte at a time": [(socket) => drip(socket, "HTTP/1.1 200 OK"), "headers: timed-out"],
  "sends its body one byte at a time": [
    then(`${head}Content-Length: 1000\r\n\r\n`, (socket) => drip(socket, "x")),
    "body: timed-out",
  ],
  "never ends its body": [then(`${head}Content-Length: 1000\r\n\r\n`, () => {}), "body: timed-out"],
  "never ends its headers": [
    then(head, (socket) => pour(socket, "X-More: and more\r\n".repeat(100))),
    "headers: headers-too-large",
  ],
  "has thousands of headers": [
    then(head, (socket) => pour(socket, "a:\r\n".repeat(16_384))),
    "headers: headers-too-large",
  ],
  "never ends one header": [
    then(`${head}X: `, (socket) => pour(socket, "x".repeat(1_000))),
    "headers: headers-too-large",
  ],
  "never ends its first line": [
    then("HTTP/1.1 200 ", (socket) => pour(socket, megabyte)),
    "headers: headers-too-large",
  ],
  "never ends its trailers": [
    then(`${chunked}0\r\n`, (socket) => pour(socket, "X-More: and more\r\n".repeat(100))),
    { statusCode: 200 },
  ],
  "pours an endless body": [then(`${head}\r\n`, (socket) => pour(socket, megabyte)), { statusCode: 200 }],
  "pours an endless error": [
    then("HTTP/1.1 500 Oops\r\n\r\n", (socket) => pour(socket, megabyte)),
    { statusCode: 500, snippet: "x".repeat(4_096) },
  ],
  "pours endless chunk extensions": [then(`${chunked}1;`, (socket) => pour(socket, megabyte)), { statusCode: 200 }],
  "pours endless empty lines": [(socket) => pour(socket, "\r\n".repeat(32_768)), "headers: headers-too-large"],
  "sends a gzip bomb": [
    saying(
      Buffer.concat([Buffer.from(`${head}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`), bomb]),
    ),
    { statusCode: 200 },
  ],
  "resets the connection": [resettingAfter(""), "headers: connection-reset"],
  "resets in the middle of its headers": [resettingAfter(`${head}Content-Le`), "headers: connection-reset"],
  "resets in the middle of its body": [resettingAfter(`${head}Content-Length: 9\r\n\r\nx`), "body: connection-reset"],
  "closes without a response": [closingAfter(""), "headers: connection-closed"],
  "closes in the middle of its headers": [closingAfter(`${head}Content-Le`), "headers: connection-closed"],
  "closes in the middle of its body": [closingAfter(`${head}Content-Length: 9\r\n\r\nx`), "body: connection-closed"],
  "closes in the middle of a chunk": [closingAfter(`${chunked}5\r\nab`), "body: connection-closed"],
  "speaks another protocol, unsolicited": [
    (socket) => socket.resume().write("SSH-2.0-OpenSSH\r\n"),
    "headers: response-invalid",
  ],
  "responds nonsense": [saying("Good morning!\r\n\r\n"), "headers: response-invalid"],
  "responds without a status": [saying("HTTP/1.1 \r\n\r\n"), "headers: response-invalid"],
  "responds with a status of four digits": [saying("HTTP/1.1 2000 OK\r\n\r\n"), "headers: response-invalid"],
  "breaks a header in two": [saying(`${head}X: a\r\n b\rc\r\n\r\n`), "headers: response-invalid"],
  "has two lengths": [saying(`${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`), "headers: response-invalid"],
  "has a length and chunks": [
    saying(`${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
    "headers: response-invalid",
  ],
  "has chunks of no size": [saying(`${chunked}zz\r\n`), "body: response-invalid"],
  "has a chunk larger than any memory": [saying(`${chunked}ffffffffffffffffff\r\n`), "body: response-invalid"],
  "has a negative length": [saying(`${head}Content-Length: -1\r\n\r\n`), "headers: response-invalid"],
  "sends more than its length": [saying(`${head}Content-Length: 2\r\n\r\nabcdef`), { statusCode: 200, snippet: "ab" }],
  "sends a second response": [saying(`${ok("one")}${ok("two")}`), { statusCode: 200, snippet: "one" }],
  "sends 204 with a body": [saying("HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nab"), { statusCode: 204, snippet: "" }],
  "sends 304 with a body": [saying("HTTP/1.1 304 No\r\nContent-Length: 2\r\n\r\nab"), { statusCode: 304, snippet: "" }],
  "tells to continue for ever": [
    (socket) => pour(socket, "HTTP/1.1 100 Continue\r\n\r\n"),
    "headers: response-invalid",
  ],
  "hints early for ever": [
    then("", (socket) => pour(socket, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")),
    "headers: too-many-informational-answers",
  ],
  "hints early, then responds": [
    saying(`${"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".repeat(3)}${ok("fine")}`),
    { statusCode: 200, snippet: "fine" },
  ],
  "switches protocols": [
    saying("HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"),
    "headers: response-invalid",
  ],
  "redirects to where clouds keep credentials": [
    saying("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"),
    { statusCode: 302, snippet: "" },
  ],
  "speaks HTTP/1.0, to the end of the connection": [
    closingAfter("HTTP/1.0 200 OK\r\n\r\nfine"),
    { statusCode: 200, snippet: "fine" },
  ],
};

const isTimeOut = (expected: Expected): boolean => typeof expected === "string" && expected.endsWith("timed-out");

function assertSent(sent: OutboundResult, expected: Expected): void {
  const actual = sent.outcome === "failed" ? `${sent.stage}: ${sent.reason}` : sent.statusCode;
  assert.equal(actual, typeof expected === "string" ? expected : expected.statusCode);
  if (sent.outcome === "failed" && sent.stage !== "body") assert.equal(sent.statusCode, null);
  assert.ok(sent.durationMs >= (isTimeOut(expected) ? shortMs - 5 : 0), `${sent.durationMs} ms`);
  assert.ok(sent.durationMs < (isTimeOut(expected) ? shortMs + 1_000 : longMs), `${sent.durationMs} ms`);
  if (sent.outcome === "failed" || typeof expected === "string") return;
  assert.ok(Buffer.byteLength(sent.snippet) <= 4_096);
  assert.equal(sent.snippet, expected.snippet ?? sent.snippet);
}

async function assertSentTo(
  t: TestContext,
  behave: (socket: Socket) => void,
  expected: Expected,
  body?: string,
): Promise<Receiver> {
  const receiver = await startReceiver(cleanUpAfter(t), behave);
  const client = createOutboundClient({ timeoutMs: isTimeOut(expected) ? shortMs : longMs });
  assertSent(await client.request(outgoing(receiver.url, body)), expected);
  await client.close();
  return receiver;
}

describe("a receiver that", () => {
  for (const [name, [behave, expected]] of Object.entries(receivers)) {
    const outcome = typeof expected === "string" ? `failure at ${expected}` : `response ${expected.statusCode}`;
    test(`${name} is one ${outcome}`, async (t) => {
      const receiver = await assertSentTo(t, behave, expected);
      assert.equal(receiver.connections.length, 1);
      await eventually("the connection is gone", 3_000, () => receiver.open() === 0);
    });
  }

  test("sends its headers and not its body is a failure with its status", async (t) => {
    const receiver = await startReceiver(
      cleanUpAfter(t),
      saying("HTTP/1.1 202 Accepted\r\nContent-Length: 9\r\n\r\nx"),
    );
    const client = createOutboundClient({ timeoutMs: shortMs });
    const { durationMs: _, ...sent } = await client.request(outgoing(receiver.url));
    assert.deepEqual(sent, { outcome: "failed", stage: "body", reason: "timed-out", statusCode: 202 });
    await client.close();
  });

  test("never reads the request is a failure to send it", async (t) => {
    const large = JSON.stringify({ large: megabyte.repeat(16) });
    await assertSentTo(t, (socket) => socket.pause(), "send: timed-out", large);
  });

  test("responds before it has read the request has responded", async (t) => {
    const early = (socket: Socket): unknown => socket.pause().write(ok("early"));
    const large = JSON.stringify({ large: megabyte.repeat(16) });
    await assertSentTo(t, early, { statusCode: 200, snippet: "early" }, large);
  });

  test("speaks HTTP/2 only is a failure", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const server = createHttp2Server().listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanUp(async () => server.close());
    const client = createOutboundClient({ timeoutMs: longMs });
    cleanUp(() => client.close());
    const { port } = server.address() as AddressInfo;
    assertSent(await client.request(outgoing(`http://127.0.0.1:${port}/`)), "headers: response-invalid");
  });

  test("never accepts the connection is a failure to connect", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const listen = `const server = require("node:net").createServer();
      server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => console.log(server.address().port));`;
    const asleep = spawn(process.execPath, ["--eval", listen], { stdio: ["ignore", "pipe", "inherit"] });
    cleanUp(async () => asleep.kill("SIGKILL"));
    const [printed] = (await once(asleep.stdout, "data")) as [Buffer];
    asleep.kill("SIGSTOP");
    const port = Number(printed.toString());
    const queued = Array.from({ length: 8 }, () => connect(port, "127.0.0.1").on("error", () => {}));
    cleanUp(async () => queued.forEach((socket) => socket.destroy()));
    await eventually("the queue is full", 30_000, () => queued.some(({ connecting }) => !connecting));
    const client = createOutboundClient({ timeoutMs: shortMs });
    cleanUp(() => client.close());
    assertSent(await client.request(outgoing(`http://127.0.0.1:${port}/`)), "connect: timed-out");
  });

  test("refuses the connection is a failure to connect", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const client = createOutboundClient({ timeoutMs: longMs });
    cleanUp(() => client.close());
    const port = await freePort();
    assertSent(await client.request(outgoing(`http://127.0.0.1:${port}/`)), "connect: connection-refused");
  });
});
