import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/tests/support";
import { allowAnyOrigin } from "./any-origin.ts";
import { limitRate } from "./rate-limit.ts";
import { assertGuarded, startTestServer, type TestServer } from "./server.test-support.ts";

describe("a scope that pages of any origin may read", () => {
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
  const ask = (path: string, method = "GET"): Promise<Response> =>
    fetch(`${running.url}${path}`, { method, headers: { origin: "https://a.example" } });

  test("its answers may be read, problems included, with the headers that a client needs", async () => {
    await ask("/open/limited");
    for (const [path, status] of [
      ["/open/fine", 200],
      ["/open/fine?q=%00", 400],
      ["/open/limited", 429],
      ["/open/broken", 500],
    ] as const) {
      const answer = await ask(path);
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get("access-control-allow-origin"), "*", path);
      const exposed = String(answer.headers.get("access-control-expose-headers"));
      for (const header of ["ETag", "X-Request-Id", "Retry-After", "RateLimit-Limit"])
        assert.ok(exposed.includes(header));
      assertGuarded(answer);
    }
  });

  test("a preflight request is answered 204 with what is allowed, and kept by the browser", async () => {
    const answer = await ask("/open/fine", "OPTIONS");
    assert.equal(answer.status, 204);
    assert.equal(answer.headers.get("access-control-allow-origin"), "*");
    assert.equal(answer.headers.get("access-control-allow-methods"), "GET, HEAD");
    assert.equal(answer.headers.get("access-control-allow-headers"), "*");
    assert.ok(Number(answer.headers.get("access-control-max-age")) > 0);
  });

  test("cookies are never asked for: no answer allows credentials", async () => {
    for (const method of ["GET", "OPTIONS"]) {
      assert.equal((await ask("/open/fine", method)).headers.get("access-control-allow-credentials"), null);
    }
  });

  test("routes outside it stay closed to pages of other origins", async () => {
    for (const path of ["/closed", "/health/live", "/metrics"]) {
      const answer = await ask(path);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("access-control-allow-origin"), null, path);
    }
  });
});
