import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { assertSecurityHeaders, limits, rawResponse, startTestServer, type TestServer } from "./server.test-support.ts";

describe("request guards", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  before(async () => {
    running = await startTestServer(cleanUp, {
      routes: (server) => {
        server.get("/things/:id", (request) => request.params);
        server.get("/broken", () => Promise.reject(new Error("broken")));
      },
    });
  });
  const raw = (target: string, headers = "Host: a\r\n", version = "1.1"): Promise<Response> =>
    rawResponse(running, `GET ${target} HTTP/${version}\r\n${headers}Connection: close\r\n\r\n`);
  const expectInvalid = async (response: Response): Promise<Record<string, unknown>> => {
    const problem = await assertProblem(response, 400, "invalid-request");
    assertSecurityHeaders(response, problem["instance"]);
    return problem;
  };
  const pointersOf = async (response: Response): Promise<unknown> => {
    const { errors } = await expectInvalid(response);
    return Array.isArray(errors) && errors.map((each: { pointer: string }) => each.pointer);
  };

  for (const path of ["/things/1", "/broken", "/nothing", "/health/live", "/metrics", "/problems", "/things/%zz"]) {
    test(`the response to ${path} has security headers and a request id`, async () => {
      assertSecurityHeaders(await raw(path));
    });
  }

  test("each request has its own id", async () => {
    const ids = [await raw("/things/1"), await raw("/things/1")].map((response) =>
      response.headers.get("x-request-id"),
    );
    assert.notEqual(ids[0], ids[1]);
  });

  for (const id of ["abc-123_DEF.4", "a", "x".repeat(64)]) {
    test(`uses a valid X-Request-Id: ${id}`, async () => {
      const response = await raw("/nothing", `Host: a\r\nX-Request-Id: ${id}\r\n`);
      const { instance } = await assertProblem(response, 404, "not-found");
      assert.deepEqual([response.headers.get("x-request-id"), instance], [id, id]);
    });
  }

  for (const id of ["x".repeat(65), "", "a b", 'a"b', "<script>", "a\tb", "é", "a;b", "${jndi:x}", "../x"]) {
    test(`replaces an invalid X-Request-Id: ${JSON.stringify(id)}`, async () => {
      const response = await raw("/nothing", `Host: a\r\nX-Request-Id: ${id}\r\n`);
      const { instance } = await assertProblem(response, 404, "not-found");
      assertSecurityHeaders(response, instance);
      assert.match(String(instance), /^[\da-f-]{36}$/);
    });
  }

  test("X-Request-Id given twice is replaced", async () => {
    const response = await raw("/things/1", "Host: a\r\nX-Request-Id: one\r\nX-Request-Id: two\r\n");
    assert.match(String(response.headers.get("x-request-id")), /^[\da-f-]{36}$/);
  });

  test("NUL in the path is 400", async () => {
    assert.deepEqual(await pointersOf(await raw("/things/a%00b?q=1")), ["/path"]);
  });

  test("NUL in the query is 400, also in an unknown parameter", async () => {
    assert.deepEqual(await pointersOf(await raw("/things/1?q=a%00b")), ["/query"]);
    assert.deepEqual(await pointersOf(await raw("/things/1?%00=1")), ["/query"]);
  });

  test("NUL is 400 also if no route matches", async () => {
    assert.deepEqual(await pointersOf(await raw("/nothing/%00")), ["/path"]);
  });

  for (const target of [
    "/things/%",
    "/things/%zz",
    "/things/%2",
    "/things/%ff",
    "/things/%c0%80",
    "/things/%ed%a0%80",
  ]) {
    test(`percent-encoding that is no UTF-8 in the path is 400: ${target}`, async () => {
      const { detail } = await expectInvalid(await raw(target));
      assert.match(String(detail), /percent-encoded/);
    });
  }

  test("invalid percent-encoding is logged and counted like any other request", async () => {
    const { instance } = await expectInvalid(await raw("/things/%zz?secret=1"));
    const lines = running.logged.filter((line) => line["requestId"] === instance);
    assert.deepEqual(
      lines.map(({ msg, status, route }) => [msg, status, route]),
      [["request completed", 400, "unknown"]],
    );
    assert.match(await running.metrics.registry.metrics(), /_count\{[^}]*route="unknown",status="400"/);
  });

  test("tolerates invalid percent-encoding in the query", async () => {
    assert.equal((await raw("/things/1?q=%zz&r=%ff&%=%")).status, 200);
  });

  test("a URL of 8 KiB is served, and one byte more is 414", async () => {
    const fitting = "/things/1?q=".padEnd(limits.urlBytes, "x");
    assert.equal((await raw(fitting)).status, 200);
    for (const target of [
      `${fitting}x`,
      `${"/things/".padEnd(limits.urlBytes, "x")}x`,
      `${fitting}x`.padStart(12_000, "/"),
    ]) {
      const response = await raw(target);
      assertSecurityHeaders(response, (await assertProblem(response, 414, "uri-too-long"))["instance"]);
    }
  });

  test("HTTP/1.1 without Host is 400; HTTP/1.0 has none", async () => {
    assert.deepEqual(await pointersOf(await raw("/things/1", "")), ["/headers/host"]);
    assert.equal((await raw("/things/1", "", "1.0")).status, 200);
  });

  test("ignores an unknown Expect header", async () => {
    const response = await raw("/things/1", "Host: a\r\nExpect: wonders\r\n");
    assert.equal(response.status, 200);
    assertSecurityHeaders(response);
  });
});

test("the longest request time that the configuration allows starts a server", async (t) => {
  const { server } = await startTestServer((stop) => t.after(stop), { limits: { requestMs: 600_000 } });
  assert.deepEqual([server.server.requestTimeout, server.server.headersTimeout], [600_000, 600_000]);
});
