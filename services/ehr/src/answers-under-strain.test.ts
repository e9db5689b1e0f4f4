import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type Asking, askAt, assertFailure, cleanUpAfter, eventually, rawAnswer } from "@ehr-marketplace/tests/support";
import { apps, kib, patientId, type Refusing, startRefusing, webhook } from "./answers.test-support.ts";
import type { Practice } from "./installations/installations.test-support.ts";
import { eventOf } from "./marketplace-events/events.test-support.ts";

describe("whatever can't be served, or not even read, is answered in the wrapper", () => {
  const cleanUp = cleanUpAfter();
  let practice: Practice;
  let documented: Refusing["documented"];
  let installed: Refusing["installed"];
  let refused: Refusing["refused"];
  before(async () => {
    ({ practice, documented, installed, refused } = await startRefusing(cleanUp, { REQUEST_TIMEOUT_MS: "1500" }));
  });

  test("429: a caller, an address with bad tokens and one with bad signatures, each with Retry-After", async () => {
    const limits = { CALLER_REQUESTS_PER_MINUTE: "2", PUBLIC_REQUESTS_PER_MINUTE: "2" };
    const limited = await practice.startAnother(limits);
    const ask = (path: string, token?: string, asking: Asking = {}): Promise<Response> =>
      askAt(`${limited.url}/api${path}`, token, asking);
    const member = practice.callers.token("riverside-member");
    for (const [what, asked] of [
      ["the caller", () => ask(apps, member)],
      ["bad signatures", () => ask(webhook, undefined, { body: {} })],
      ["bad tokens", () => ask(apps, "abc.def.ghi")],
    ] as const) {
      for (let nth = 0; nth < 2; nth += 1) assert.notEqual((await asked()).status, 429, what);
      const answer = await asked();
      assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/, what);
      assert.equal(answer.headers.get("ratelimit-limit"), "2", what);
      await assertFailure(answer.clone(), 429);
      await documented.hold(
        what === "bad signatures" ? "POST" : "GET",
        `/api${what === "bad signatures" ? webhook : apps}`,
        answer,
      );
    }
  });

  test("503: settings that were not read from the marketplace yet", async () => {
    const { headers } = await refused(503, `${apps}/${installed.unread}/config`, { method: "PUT", body: {} });
    assert.equal(headers.get("retry-after"), "5");
  });

  test("503: the database is away", async () => {
    const away = await practice.startAnother({ DATABASE_URL: "postgres://ehr:secret@127.0.0.1:9/ehr" });
    const token = practice.callers.token("riverside-admin");
    for (const [path, asking] of [
      [apps, {}],
      [`${apps}/${installed.native}`, {}],
      [`${apps}/${installed.native}/launches`, {}],
      [`${apps}/${installed.native}/launch`, { body: { patientId } }],
      [`${apps}/${installed.native}/config`, { method: "PUT", body: {} }],
      [webhook, { body: eventOf({ what: "created", id: patientId, at: Date.now() }) }],
    ] as const) {
      const answer = await askAt(`${away.url}/api${path}`, token, asking);
      assert.equal(answer.headers.get("retry-after"), "2", path);
      await assertFailure(answer, 503);
    }
    const notReady = await fetch(`${away.url}/health/ready`);
    assert.match(notReady.headers.get("retry-after") ?? "", /^\d+$/);
    await assertFailure(notReady, 503);
    assert.equal((await fetch(`${away.url}/health/live`)).status, 200);
  });

  test("503: the issuer of tokens was never there", async () => {
    const alone = await practice.startAnother({ TOKEN_JWKS_URL: "http://127.0.0.1:9/jwks" });
    const answer = await askAt(`${alone.url}/api${apps}`, practice.callers.token("riverside-admin"), {});
    assert.equal(answer.headers.get("retry-after"), "5");
    await assertFailure(answer, 503);
  });

  test("503: there is more to do than can be done", async () => {
    const busy = await practice.startAnother({ MAX_EVENT_LOOP_DELAY_MS: "20" });
    const ask = (): Promise<Response> => {
      const until = performance.now() + 100;
      while (performance.now() < until);
      return fetch(`${busy.url}/api${apps}`);
    };
    let answer = await ask();
    await eventually("it is overloaded", 10_000, async () => {
      answer = await ask();
      return answer.status === 503;
    });
    assert.equal(answer.headers.get("retry-after"), "2");
    await assertFailure(answer, 503);
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
    ["a connection on which nothing is asked", 408, ""],
    [
      "a body that never comes",
      408,
      `POST /api${webhook} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{`,
    ],
  ] as const) {
    test(`${status}: ${what}, to Node's parser`, async () => {
      const answer = await rawAnswer(practice.ehr, bytes);
      assert.equal(answer.headers.get("connection"), "close");
      await assertFailure(answer, status);
    });
  }
});
