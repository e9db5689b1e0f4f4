import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { allowAnyOrigin } from "./any-origin.ts";
import { Problem, problemShape } from "./problem.ts";
import { assertSecurityHeaders, startTestServer, type TestServer } from "./server.test-support.ts";

const revealing = new Error(
  'relation "patients" does not exist: select * from patients where ssn = $1 at postgres://app:hunter2@db.internal/app',
);
const oddities = { undefined, null: null, text: "internal words", number: 42, object: { detail: "internal words" } };
const conflict = { code: "already-there", status: 409, title: "It is there already", advice: "Use another name." };

describe("errors are problem documents", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  const sendRequest = (path: string, method = "GET"): Promise<Response> => fetch(`${running.url}${path}`, { method });
  const expectProblem = async (response: Response, status: number, code: string): Promise<Record<string, unknown>> => {
    const problem = await assertProblem(response, status, code);
    assertSecurityHeaders(response, problem["instance"]);
    assert.equal(response.headers.get("cache-control"), "no-store");
    return problem;
  };

  before(async () => {
    running = await startTestServer(cleanUp, {
      limits: { requestMs: 500 },
      problems: [conflict],
      routes: async (server) => {
        server.get("/things", () => []);
        server.post("/things", () => ({}));
        server.get("/things/:id", () => ({}));
        server.delete("/things/:id", () => ({}));
        server.post("/things/:id/parts/:part", () => ({}));
        server.get("/gone", (_request, reply) => reply.callNotFound());
        server.get("/revealing", () => Promise.reject(revealing));
        for (const code of ["40001", "40P01"]) {
          server.get(`/rolled-back/${code}`, () =>
            Promise.reject(Object.assign(new Error("internal words"), { code })),
          );
        }
        server.get("/teapot", () => Promise.reject(Object.assign(new Error("internal words"), { statusCode: 418 })));
        server.get("/conflict", () => {
          throw new Problem(conflict, "There is one already.", { headers: { "x-hint": "other-name" } });
        });
        for (const [name, thrown] of Object.entries(oddities)) {
          // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- libraries do reject with anything
          server.get(`/thrown/${name}`, () => Promise.reject(thrown));
        }
        server.get("/never", () => new Promise(() => undefined));
        await server.register(
          async (scope) => {
            allowAnyOrigin(scope, "/");
            scope.get("/open", () => ({}));
          },
          { prefix: "/shared" },
        );
      },
    });
  });

  for (const path of ["/nothing", "/nothing/", "/THINGS", "//", "//things/", "/shared/nothing"]) {
    test("a deadlock or a serialization failure is 503, to be retried", async () => {
      for (const code of ["40001", "40P01"]) {
        const response = await sendRequest(`/rolled-back/${code}`);
        assert.equal(response.headers.get("retry-after"), "1");
        await expectProblem(response, 503, "unavailable");
      }
    });

    test(`a path that no route has is 404: ${path}`, async () => {
      await expectProblem(await sendRequest(path), 404, "not-found");
    });
  }

  for (const [method, path, allow] of [
    ["DELETE", "/things", "GET, HEAD, POST"],
    ["POST", "/things/1", "DELETE, GET, HEAD"],
    ["POST", `/things/${"x".repeat(500)}`, "DELETE, GET, HEAD"],
    ["GET", "/things/1/parts/2?a=b", "POST"],
    ["OPTIONS", "/things/1", "DELETE, GET, HEAD"],
    ["PROPFIND", "/things", "GET, HEAD, POST"],
    ["POST", "/shared/open", "GET, HEAD"],
  ] as const) {
    test(`a method that the path doesn't have is 405, and Allow says which it has: ${method} ${path.slice(0, 30)}`, async () => {
      const response = await sendRequest(path, method);
      await expectProblem(response, 405, "method-not-allowed");
      assert.equal(response.headers.get("allow"), allow);
    });
  }

  test("HEAD on a path with POST only is 405 with Allow, without a body", async () => {
    const response = await sendRequest("/things/1/parts/2", "HEAD");
    assert.deepEqual([response.status, response.headers.get("allow"), await response.text()], [405, "POST", ""]);
    assertSecurityHeaders(response);
  });

  test("HEAD is served where GET is allowed", async () => {
    assert.equal((await sendRequest("/things", "HEAD")).status, 200);
  });

  test("an invalid body is ignored if no route matches", async () => {
    const nonsense = { method: "POST", headers: { "content-type": "text/nonsense" }, body: "{" };
    await expectProblem(await fetch(`${running.url}/nothing`, nonsense), 404, "not-found");
    await expectProblem(await fetch(`${running.url}/things/1`, nonsense), 405, "method-not-allowed");
  });

  test("a handler that calls not-found is 404, not 405", async () => {
    await expectProblem(await sendRequest("/gone"), 404, "not-found");
  });

  test("a problem that a route throws has its own code, detail and headers", async () => {
    const response = await sendRequest("/conflict");
    const problem = await expectProblem(response, 409, "already-there");
    assert.deepEqual([problem["title"], problem["detail"]], ["It is there already", "There is one already."]);
    assert.equal(response.headers.get("x-hint"), "other-name");
  });

  test("an unexpected error is 500 without internal details, and logged with the request id", async () => {
    const response = await sendRequest("/revealing");
    const head = JSON.stringify([...response.headers]);
    const problem = await expectProblem(response, 500, "internal-error");
    assert.doesNotMatch(head + JSON.stringify(problem), /patients|select|postgres|hunter2|internal\/app|\.ts|at /i);
    const line = running.logged.find((each) => each["requestId"] === problem["instance"] && each["level"] === "error");
    assert.deepEqual([line?.["msg"], line?.["code"]], ["failed to process a request", "internal-error"]);
    assert.match(JSON.stringify(line?.["err"]), /relation .*patients/);
  });

  test("an error with an unsupported status is 500", async () => {
    await expectProblem(await sendRequest("/teapot"), 500, "internal-error");
  });

  for (const name of Object.keys(oddities)) {
    test(`a thrown value that is no Error is 500 and logged: ${name}`, async () => {
      const problem = await expectProblem(await sendRequest(`/thrown/${name}`), 500, "internal-error");
      assert.doesNotMatch(JSON.stringify(problem), /internal words|Cannot read/);
      assert.ok(running.logged.some((line) => line["requestId"] === problem["instance"] && line["level"] === "error"));
    });
  }

  test("a handler that takes too long is 503 with Retry-After", async () => {
    const response = await sendRequest("/never");
    await expectProblem(response, 503, "unavailable");
    assert.match(String(response.headers.get("retry-after")), /^[1-9]\d*$/);
  });
});

test("a service with pages has errors as pages for browsers, and as problem documents for others", async (t) => {
  const page = {
    headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": "default-src 'self'" },
    write: ({ kind }: Problem, requestId: string) => `${kind.status} ${requestId}`,
  };
  const { url } = await startTestServer(cleanUpAfter(t), { errorShape: { ...problemShape, page } });
  const opened = await fetch(`${url}/nowhere`, { headers: { accept: "text/html", "x-request-id": "one" } });
  assert.deepEqual([opened.status, await opened.text()], [404, "404 one"]);
  const { headers } = opened;
  assert.deepEqual(
    ["content-type", "content-security-policy", "vary", "cache-control"].map((name) => headers.get(name)),
    ["text/html; charset=utf-8", "default-src 'self'", "accept", "no-store"],
  );
  const called = await fetch(`${url}/nowhere`);
  await assertProblem(called, 404, "not-found");
  assert.equal(called.headers.get("vary"), "accept");
});
