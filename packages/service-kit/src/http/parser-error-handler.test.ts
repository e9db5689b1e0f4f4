import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { assertSecurityHeaders, rawResponse, startTestServer, type TestServer } from "./server.test-support.ts";

const kib = (count: number, of = "x"): string => of.repeat((count * 1_024) / of.length);

describe("requests refused by Node's parser get problem documents", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  before(async () => {
    running = await startTestServer(cleanUp, {
      limits: { requestMs: 300 },
      routes: (server) => {
        server.get("/things", () => []);
        server.post("/things", (request) => request.body);
      },
    });
  });
  const expectProblem = async (status: number, code: string, ...pieces: string[]): Promise<void> => {
    const response = await rawResponse(running, ...pieces);
    const { instance, detail } = await assertProblem(response, status, code);
    assert.doesNotMatch(String(detail), /`errors`/, "there are none");
    assertSecurityHeaders(response, instance);
    assert.equal(response.headers.get("cache-control"), "no-store");
    assert.equal(response.headers.get("connection"), "close");
  };

  for (const [what, bytes] of [
    ["no request at all", "hello there\r\n\r\n"],
    ["an unknown method", "BREW /pot HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["a version that is none", "GET / HTTP/9.9\r\nHost: a\r\n\r\n"],
    ["a URL with a blank", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a TLS handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["a header without a colon", "GET / HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n"],
    ["NUL in a header", "GET / HTTP/1.1\r\nHost: a\r\nX-A: a\0b\r\n\r\n"],
    ["a length that is none", "POST /things HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"],
    ["two lengths", "POST /things HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"],
  ] as const) {
    test(`${what} is 400`, () => expectProblem(400, "invalid-request", bytes));
  }

  for (const size of [20, 70]) {
    const line = `GET /things?q=${kib(size)} HTTP/1.1\r\n`;
    test(`a URL of ${size} KiB is 414`, () => expectProblem(414, "uri-too-long", `${line}Host: a\r\n\r\n`));
    test(`a URL of ${size} KiB is 414, and its headers don't matter`, () =>
      expectProblem(414, "uri-too-long", `${line}Host: a\r\nCookie: ${kib(20)}\r\n\r\n`));
  }

  test("a URL that is too long together with headers that would fit is 414", () =>
    expectProblem(414, "uri-too-long", `GET /${kib(10)} HTTP/1.1\r\nHost: a\r\nCookie: ${kib(10)}\r\n\r\n`));

  test("a URL of 20 KiB that arrives in pieces is 414", () =>
    expectProblem(414, "uri-too-long", `GET /things?q=${kib(10)}`, `${kib(10)} HTTP/1.1\r\nHost: a\r\n\r\n`));

  test("a URL of 70 KiB that arrives in small pieces is 414", () => {
    const pieces = Array.from({ length: 35 }, () => kib(2, "&key=value%20one"));
    return expectProblem(414, "uri-too-long", "GET /things?", ...pieces, " HTTP/1.1\r\nHost: a\r\n\r\n");
  });

  test("a URL of 4 MiB is 414, and the client can read the response while it is still sending", () =>
    expectProblem(414, "uri-too-long", `GET /${kib(4_096)} HTTP/1.1\r\nHost: a\r\n\r\n`));

  const start = "GET /things HTTP/1.1\r\nHost: a\r\n";
  test("a header of 20 KiB is 431", () =>
    expectProblem(431, "headers-too-large", `${start}Cookie: ${kib(20)}\r\n\r\n`));
  test("headers of 20 KiB together are 431", () =>
    expectProblem(431, "headers-too-large", `${start}${kib(20, "X-Header: 45678\r\n").trimEnd()}\r\n\r\n`));
  test("a token of 20 KiB that arrives in pieces is 431", () =>
    expectProblem(431, "headers-too-large", `${start}Authorization: Bearer a`, kib(20), "\r\n\r\n"));
  test("cookies of 70 KiB that arrive in small pieces are 431", () => {
    const pieces = Array.from({ length: 35 }, () => kib(2, "a=%20&b; cookie="));
    return expectProblem(431, "headers-too-large", `${start}Cookie: `, ...pieces, "\r\n\r\n");
  });

  test("a request that never finishes its headers is 408", () =>
    expectProblem(408, "request-timeout", "GET /things HTTP/1.1\r\nHost: "));

  test("a connection without a request is 408", () => expectProblem(408, "request-timeout"));

  test("a request that never finishes its body is 408, once", async () => {
    const head = "POST /things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n";
    const response = await rawResponse(running, head, "{");
    const { instance } = await assertProblem(response, 408, "request-timeout");
    assertSecurityHeaders(response, instance);
    assert.equal(response.headers.get("connection"), "close");
  });

  test("the server still works afterwards", async () => {
    assert.equal((await fetch(`${running.url}/things`)).status, 200);
  });
});
