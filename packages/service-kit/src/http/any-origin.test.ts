import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { allowAnyOrigin } from "./any-origin.ts";
import { limitRate } from "./rate-limit.ts";
import { assertSecurityHeaders, startTestServer, type TestServer } from "./server.test-support.ts";

describe("allowAnyOrigin", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  before(async () => {
    running = await startTestServer(cleanUp, {
      routes: async (server) => {
        server.get("/closed", () => ({}));
        await server.register(
          async (scope) => {
            allowAnyOrigin(scope, "/");
            scope.get("/fine", () => ({}));
            scope.get("/broken", () => Promise.reject(new Error("broken")));
            await scope.register(async (limited) => {
              limitRate(limited, 1);
              limited.get("/limited", () => ({}));
            });
          },
          { prefix: "/open" },
        );
      },
    });
  });
  const sendRequest = (path: string, method = "GET"): Promise<Response> =>
    fetch(`${running.url}${path}`, { method, headers: { origin: "https://a.example" } });

  test("its responses can be read from any origin, problems included, with the exposed headers", async () => {
    await sendRequest("/open/limited");
    for (const [path, status] of [
      ["/open/fine", 200],
      ["/open/fine?q=%00", 400],
      ["/open/limited", 429],
      ["/open/broken", 500],
    ] as const) {
      const response = await sendRequest(path);
      assert.equal(response.status, status);
      assert.equal(response.headers.get("access-control-allow-origin"), "*", path);
      const exposed = String(response.headers.get("access-control-expose-headers"));
      for (const header of ["ETag", "Link", "X-Request-Id", "Retry-After", "RateLimit-Limit"])
        assert.ok(exposed.includes(header));
      assertSecurityHeaders(response);
    }
  });

  test("returns 204 to a preflight request, with the allowed methods and a max-age", async () => {
    const response = await sendRequest("/open/fine", "OPTIONS");
    assert.equal(response.status, 204);
    assert.equal(response.headers.get("access-control-allow-origin"), "*");
    assert.equal(response.headers.get("access-control-allow-methods"), "GET, HEAD, POST");
    assert.equal(response.headers.get("access-control-allow-headers"), "*");
    assert.ok(Number(response.headers.get("access-control-max-age")) > 0);
  });

  test("no response allows credentials", async () => {
    for (const method of ["GET", "OPTIONS"]) {
      assert.equal((await sendRequest("/open/fine", method)).headers.get("access-control-allow-credentials"), null);
    }
  });

  test("a page of any origin can read that a path or a method doesn't exist", async () => {
    for (const [path, method, status] of [
      ["/open/fin", "GET", 404],
      ["/api/v1/nothing", "GET", 404],
      ["/open/fine/", "POST", 404],
      ["/closed/", "DELETE", 404],
      ["/closed", "POST", 405],
    ] as const) {
      const response = await sendRequest(path, method);
      assert.equal(response.status, status, path);
      assert.equal(response.headers.get("access-control-allow-origin"), "*", path);
      assert.ok(response.headers.get("access-control-expose-headers")?.includes("X-Request-Id"), path);
      assert.equal(response.headers.get("access-control-allow-credentials"), null);
    }
  });

  test("routes outside the scope have no CORS headers", async () => {
    for (const path of ["/closed", "/health/live", "/metrics"]) {
      const response = await sendRequest(path);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("access-control-allow-origin"), null, path);
    }
  });
});
