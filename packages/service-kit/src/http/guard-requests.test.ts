import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { assertProblem, cleanUpAfter } from "@ehr-marketplace/tests/support";
import { assertGuarded, limits, rawAnswer, startTestServer, type TestServer } from "./server.test-support.ts";

describe("every request is guarded, whatever becomes of it", () => {
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
    rawAnswer(running, `GET ${target} HTTP/${version}\r\n${headers}Connection: close\r\n\r\n`);
  const expectInvalid = async (answer: Response): Promise<Record<string, unknown>> => {
    const problem = await assertProblem(answer, 400, "invalid-request");
    assertGuarded(answer, problem["instance"]);
    return problem;
  };
  const pointersOf = async (answer: Response): Promise<unknown> => {
    const { errors } = await expectInvalid(answer);
    return Array.isArray(errors) && errors.map((each: { pointer: string }) => each.pointer);
  };

  for (const path of ["/things/1", "/broken", "/nothing", "/health/live", "/metrics", "/problems", "/things/%zz"]) {
    test(`the security headers and a request id are on the answer to ${path}`, async () => {
      assertGuarded(await raw(path));
    });
  }

  test("two requests have two ids", async () => {
    const ids = [await raw("/things/1"), await raw("/things/1")].map((answer) => answer.headers.get("x-request-id"));
    assert.notEqual(ids[0], ids[1]);
  });

  for (const id of ["abc-123_DEF.4", "a", "x".repeat(64)]) {
    test(`a sane X-Request-Id is taken over: ${id}`, async () => {
      const answer = await raw("/nothing", `Host: a\r\nX-Request-Id: ${id}\r\n`);
      const { instance } = await assertProblem(answer, 404, "not-found");
      assert.deepEqual([answer.headers.get("x-request-id"), instance], [id, id]);
    });
  }

  for (const id of ["x".repeat(65), "", "a b", 'a"b', "<script>", "a\tb", "é", "a;b", "${jndi:x}", "../x"]) {
    test(`a hostile X-Request-Id is replaced: ${JSON.stringify(id)}`, async () => {
      const answer = await raw("/nothing", `Host: a\r\nX-Request-Id: ${id}\r\n`);
      const { instance } = await assertProblem(answer, 404, "not-found");
      assertGuarded(answer, instance);
      assert.match(String(instance), /^[\da-f-]{36}$/);
    });
  }

  test("X-Request-Id given twice is replaced", async () => {
    const answer = await raw("/things/1", "Host: a\r\nX-Request-Id: one\r\nX-Request-Id: two\r\n");
    assert.match(String(answer.headers.get("x-request-id")), /^[\da-f-]{36}$/);
  });

  test("NUL in the path is 400", async () => {
    assert.deepEqual(await pointersOf(await raw("/things/a%00b?q=1")), ["/path"]);
  });

  test("NUL in the query is 400, also in a parameter that nobody knows", async () => {
    assert.deepEqual(await pointersOf(await raw("/things/1?q=a%00b")), ["/query"]);
    assert.deepEqual(await pointersOf(await raw("/things/1?%00=1")), ["/query"]);
  });

  test("NUL is 400 also where no route is", async () => {
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
      assert.match(String(detail), /percent sign/);
    });
  }

  test("bad percent-encoding is logged and counted as any other request, under the same id", async () => {
    const { instance } = await expectInvalid(await raw("/things/%zz?secret=1"));
    const lines = running.logged.filter((line) => line["requestId"] === instance);
    assert.deepEqual(
      lines.map(({ msg, status, route }) => [msg, status, route]),
      [["answered", 400, "unknown"]],
    );
    assert.match(await running.metrics.registry.metrics(), /_count\{[^}]*route="unknown",status="400"/);
  });

  test("bad percent-encoding in the query harms nobody", async () => {
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
      const answer = await raw(target);
      assertGuarded(answer, (await assertProblem(answer, 414, "uri-too-long"))["instance"]);
    }
  });

  test("HTTP/1.1 without Host is 400; HTTP/1.0 has none", async () => {
    assert.deepEqual(await pointersOf(await raw("/things/1", "")), ["/headers/host"]);
    assert.equal((await raw("/things/1", "", "1.0")).status, 200);
  });

  test("an expectation that we don't know is passed over", async () => {
    const answer = await raw("/things/1", "Host: a\r\nExpect: wonders\r\n");
    assert.equal(answer.status, 200);
    assertGuarded(answer);
  });
});
