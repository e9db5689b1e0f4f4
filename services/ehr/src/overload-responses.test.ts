import assert from "node:assert/strict";
import { connect } from "node:net";
import { before, describe, test } from "node:test";
import { cleanUpAfter, eventually, rawResponse } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import { type RequestOptions, sendRequest } from "@ehr-marketplace/tests/support/callers";
import type { RunningEhr } from "@ehr-marketplace/tests/support/ehr";
import { apps, type ErrorTest, kib, patientId, startErrorTest, webhook } from "./error-responses.test-support.ts";
import type { Practice } from "./installations/installations.test-support.ts";
import { eventOf } from "./marketplace-events/events.test-support.ts";

describe("requests that can't be served or parsed get an error in the wrapper", () => {
  const cleanUp = cleanUpAfter();
  let practice: Practice;
  let documented: ErrorTest["documented"];
  let installed: ErrorTest["installed"];
  let refused: ErrorTest["refused"];
  let impatient: RunningEhr;
  before(async () => {
    ({ practice, documented, installed, refused } = await startErrorTest(cleanUp));
    impatient = await practice.startAnother({ REQUEST_TIMEOUT_MS: "1500" });
  });

  test("returns 429 with Retry-After to a caller, and to an address with invalid tokens or signatures, beyond its limit", async () => {
    const limits = { CALLER_REQUESTS_PER_MINUTE: "2", PUBLIC_REQUESTS_PER_MINUTE: "2" };
    const limited = await practice.startAnother(limits);
    const send = (path: string, token?: string, options: RequestOptions = {}): Promise<Response> =>
      sendRequest(`${limited.url}/api${path}`, token, options);
    const member = practice.callers.token("riverside-member");
    for (const [what, sendOne] of [
      ["the caller", () => send(apps, member)],
      ["bad signatures", () => send(webhook, undefined, { body: {} })],
      ["bad tokens", () => send(apps, "abc.def.ghi")],
    ] as const) {
      for (let nth = 0; nth < 2; nth += 1) assert.notEqual((await sendOne()).status, 429, what);
      const response = await sendOne();
      assert.match(response.headers.get("retry-after") ?? "", /^[1-9]\d*$/, what);
      assert.equal(response.headers.get("ratelimit-limit"), "2", what);
      await assertFailure(response.clone(), 429);
      await documented.checkResponse(
        what === "bad signatures" ? "POST" : "GET",
        `/api${what === "bad signatures" ? webhook : apps}`,
        response,
      );
    }
  });

  test("returns 503 for a configuration whose schema was not read from the marketplace yet", async () => {
    const { headers } = await refused(503, `${apps}/${installed.unread}/config`, { method: "PUT", body: {} });
    assert.equal(headers.get("retry-after"), "5");
  });

  test("returns 503 while the database is unavailable", async () => {
    const unavailable = await practice.startAnother({ DATABASE_URL: "postgres://ehr:secret@127.0.0.1:9/ehr" });
    const token = practice.callers.token("riverside-admin");
    for (const [path, options] of [
      [apps, {}],
      [`${apps}/${installed.native}`, {}],
      [`${apps}/${installed.native}/launches`, {}],
      [`${apps}/${installed.native}/launch`, { body: { patientId } }],
      [`${apps}/${installed.native}/config`, { method: "PUT", body: {} }],
      [webhook, { body: eventOf({ what: "created", id: patientId, at: Date.now() }) }],
    ] as const) {
      const response = await sendRequest(`${unavailable.url}/api${path}`, token, options);
      assert.equal(response.headers.get("retry-after"), "2", path);
      await assertFailure(response, 503);
    }
    const notReady = await fetch(`${unavailable.url}/health/ready`);
    assert.match(notReady.headers.get("retry-after") ?? "", /^\d+$/);
    await assertFailure(notReady, 503);
    assert.equal((await fetch(`${unavailable.url}/health/live`)).status, 200);
  });

  test("returns 503 while the issuer of tokens was never available", async () => {
    const alone = await practice.startAnother({ TOKEN_JWKS_URL: "http://127.0.0.1:9/jwks" });
    const response = await sendRequest(`${alone.url}/api${apps}`, practice.callers.token("riverside-admin"), {});
    assert.equal(response.headers.get("retry-after"), "5");
    await assertFailure(response, 503);
  });

  test("returns 503 under overload", async () => {
    const busy = await practice.startAnother({ MAX_EVENT_LOOP_DELAY_MS: "20", REQUEST_TIMEOUT_MS: "60000" });
    const inProgress = Array.from({ length: 20 }, () => {
      const socket = connect(Number(new URL(busy.url).port), "127.0.0.1");
      const headers = "Host: a\r\nContent-Type: application/json\r\nContent-Length: 10";
      socket.write(`POST /api${webhook} HTTP/1.1\r\n${headers}\r\n\r\n{`);
      return socket;
    });
    const send = (): Promise<Response> => {
      const until = performance.now() + 100;
      while (performance.now() < until);
      return fetch(`${busy.url}/api${apps}`);
    };
    let response = await send();
    // Without pauses between the requests, which would lower the load.
    await eventually("it is overloaded", 30_000, async () => {
      for (let nth = 0; nth < 20 && response.status !== 503; nth += 1) response = await send();
      return response.status === 503;
    });
    for (const socket of inProgress) socket.destroy();
    assert.equal(response.headers.get("retry-after"), "2");
    await assertFailure(response, 503);
  });

  const line = `GET /api${apps} HTTP/1.1\r\n`;
  for (const [what, status, bytes] of [
    ["no request at all", 400, "hello there\r\n\r\n"],
    ["a request without Host", 400, `${line}Connection: close\r\n\r\n`],
    ["an unknown method", 400, "BREW /api HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["a TLS handshake", 400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["HTTP/2 without TLS", 400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["NUL in a header", 400, `${line}Host: a\r\nX-Org-Alias: a\0b\r\n\r\n`],
    [
      "two lengths",
      400,
      `POST /api${webhook} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
    ],
    ["a URL of 20 KiB", 414, `GET /api/${kib(20)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ["headers of 20 KiB", 431, `${line}Host: a\r\nCookie: ${kib(20)}\r\n\r\n`],
    ["a request that never ends its headers", 408, `${line}Host: `],
    ["a connection without a request", 408, ""],
    [
      "a body that never comes",
      408,
      `POST /api${webhook} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{`,
    ],
  ] as const) {
    test(`${status}: ${what}, to Node's parser`, async () => {
      const response = await rawResponse(status === 408 ? impatient : practice.ehr, bytes);
      assert.equal(response.headers.get("connection"), "close");
      await assertFailure(response, status);
    });
  }
});
