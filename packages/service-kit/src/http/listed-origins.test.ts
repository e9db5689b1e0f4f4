import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/tests/support";
import { allowListedOrigins } from "./listed-origins.ts";
import { neverCache } from "./never-cache.ts";
import { assertGuarded, startTestServer, type TestServer } from "./server.test-support.ts";

const [first, second] = ["https://console.example.com", "http://localhost:5173"];

function startWith(cleanUp: ReturnType<typeof cleanUpAfter>, origins: string[]): Promise<TestServer> {
  return startTestServer(cleanUp, {
    closed: true,
    routes: async (server) => {
      server.get("/outside", { config: { access: "anyone" } }, () => ({}));
      await server.register(
        async (scope) => {
          await allowListedOrigins(scope, origins);
          neverCache(scope);
          scope.get("/fine", { config: { access: "anyone" } }, () => ({}));
          scope.get("/broken", { config: { access: "anyone" } }, () => Promise.reject(new Error("broken")));
          scope.delete("/closed", { config: { access: ["operator"] } }, () => ({}));
        },
        { prefix: "/in" },
      );
    },
  });
}

describe("a scope for pages of listed origins", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  before(async () => {
    running = await startWith(cleanUp, [first, second]);
  });
  const ask = (
    path: string,
    origin?: string,
    method = "GET",
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    fetch(`${running.url}${path}`, { method, headers: { ...(origin === undefined ? {} : { origin }), ...headers } });
  const preflight = (origin: string, path = "/in/closed"): Promise<Response> =>
    ask(path, origin, "OPTIONS", {
      "access-control-request-method": "DELETE",
      "access-control-request-headers": "authorization, idempotency-key",
    });

  for (const origin of [first, second]) {
    test(`lets ${origin} read its answers, problems included, with the headers that a client needs`, async () => {
      for (const [path, status] of [
        ["/in/fine", 200],
        ["/in/broken", 500],
      ] as const) {
        const answer = await ask(path, origin);
        assert.equal(answer.status, status);
        assert.equal(answer.headers.get("access-control-allow-origin"), origin);
        const exposed = String(answer.headers.get("access-control-expose-headers")).split(", ");
        for (const header of ["ETag", "X-Request-Id", "Retry-After", "RateLimit-Limit", "Location", "Link"]) {
          assert.ok(exposed.includes(header), header);
        }
        assert.equal(answer.headers.get("cache-control"), "no-store");
        assertGuarded(answer);
      }
    });

    test(`answers a preflight request of ${origin} without a token`, async () => {
      const answer = await preflight(origin);
      assert.equal(answer.status, 204);
      assert.equal(answer.headers.get("access-control-allow-origin"), origin);
      assert.equal(answer.headers.get("access-control-allow-methods"), "GET, HEAD, POST, PUT, PATCH, DELETE");
      assert.equal(answer.headers.get("access-control-allow-headers"), "authorization, idempotency-key");
      assert.equal(answer.headers.get("access-control-max-age"), "86400");
      assertGuarded(answer);
    });
  }

  for (const origin of [
    "https://evil.example",
    "null",
    "https://console.example.com.evil.example",
    "https://console.example.com:8443",

    "http://console.example.com",
    "https://CONSOLE.example.com",
    "https://console.example.com/",
    "http://localhost",
    "*",
    "https://sub.console.example.com",
    `${first}, ${second}`,
    "",
  ]) {
    test(`lets no page of ${JSON.stringify(origin)} read anything`, async () => {
      for (const answer of [await ask("/in/fine", origin), await preflight(origin)]) {
        assert.equal(answer.headers.get("access-control-allow-origin"), null);
      }
    });
  }

  test("tells caches that its answers depend on the origin, whoever asks", async () => {
    for (const origin of [first, "https://evil.example", undefined]) {
      for (const path of ["/in/fine", "/in/broken"]) {
        assert.match(String((await ask(path, origin)).headers.get("vary")), /\borigin\b/i);
      }
    }
    assert.match(String((await preflight(first)).headers.get("vary")), /\borigin\b/i);
  });

  test("never asks for cookies", async () => {
    for (const answer of [await ask("/in/fine", first), await preflight(first)]) {
      assert.equal(answer.headers.get("access-control-allow-credentials"), null);
    }
  });

  test("changes nothing outside itself", async () => {
    for (const path of ["/outside", "/health/live"]) {
      const answer = await ask(path, first);
      assert.equal(answer.headers.get("access-control-allow-origin"), null, path);
      assert.equal(answer.headers.get("vary"), null);
    }
    assert.equal((await preflight(first, "/outside")).status, 405);
  });
});

test("where no origin is listed nothing is registered: there are no preflight requests, and no headers", async (t) => {
  const { url, server } = await startWith(cleanUpAfter(t), []);
  assert.deepEqual(
    server.routesAndAccess.filter(({ method }) => method === "OPTIONS"),
    [],
  );
  const headers = { origin: first };
  assert.equal((await fetch(`${url}/in/fine`, { method: "OPTIONS", headers })).status, 405);
  const answer = await fetch(`${url}/in/fine`, { headers });
  assert.equal(answer.headers.get("access-control-allow-origin"), null);
  assert.equal(answer.headers.get("access-control-expose-headers"), null);
  assert.equal(answer.headers.get("vary"), null);
});
