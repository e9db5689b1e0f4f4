import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { allowListedOrigins } from "./listed-origins.ts";
import { disableCaching } from "./request-guards.ts";
import { assertSecurityHeaders, startTestServer, type TestServer } from "./server.test-support.ts";

const [first, second] = ["https://console.example.com", "http://localhost:5173"];

function startWith(cleanUp: ReturnType<typeof cleanUpAfter>, origins: string[]): Promise<TestServer> {
  return startTestServer(cleanUp, {
    closed: true,
    routes: async (server) => {
      server.get("/outside", { config: { access: "anyone" } }, () => ({}));
      await server.register(
        async (scope) => {
          await allowListedOrigins(scope, origins);
          disableCaching(scope);
          scope.get("/fine", { config: { access: "anyone" } }, () => ({}));
          scope.get("/broken", { config: { access: "anyone" } }, () => Promise.reject(new Error("broken")));
          scope.delete("/closed", { config: { access: ["operator"] } }, () => ({}));
        },
        { prefix: "/in" },
      );
    },
  });
}

describe("allowListedOrigins", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  before(async () => {
    running = await startWith(cleanUp, [first, second]);
  });
  const sendRequest = (
    path: string,
    origin?: string,
    method = "GET",
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    fetch(`${running.url}${path}`, { method, headers: { ...(origin === undefined ? {} : { origin }), ...headers } });
  const preflight = (origin: string, path = "/in/closed"): Promise<Response> =>
    sendRequest(path, origin, "OPTIONS", {
      "access-control-request-method": "DELETE",
      "access-control-request-headers": "authorization, idempotency-key",
    });

  for (const origin of [first, second]) {
    test(`allows ${origin} to read responses, problems included, with the exposed headers`, async () => {
      for (const [path, status] of [
        ["/in/fine", 200],
        ["/in/broken", 500],
      ] as const) {
        const response = await sendRequest(path, origin);
        assert.equal(response.status, status);
        assert.equal(response.headers.get("access-control-allow-origin"), origin);
        const exposed = String(response.headers.get("access-control-expose-headers")).split(", ");
        for (const header of ["ETag", "X-Request-Id", "Retry-After", "RateLimit-Limit", "Location", "Link"]) {
          assert.ok(exposed.includes(header), header);
        }
        assert.equal(response.headers.get("cache-control"), "no-store");
        assertSecurityHeaders(response);
      }
    });

    test(`responds to a preflight request of ${origin} without a token`, async () => {
      const response = await preflight(origin);
      assert.equal(response.status, 204);
      assert.equal(response.headers.get("access-control-allow-origin"), origin);
      assert.equal(response.headers.get("access-control-allow-methods"), "GET, HEAD, POST, PUT, PATCH, DELETE");
      assert.equal(response.headers.get("access-control-allow-headers"), "authorization, idempotency-key");
      assert.equal(response.headers.get("access-control-max-age"), "86400");
      assertSecurityHeaders(response);
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
    test(`doesn't allow ${JSON.stringify(origin)} to read anything`, async () => {
      for (const response of [await sendRequest("/in/fine", origin), await preflight(origin)]) {
        assert.equal(response.headers.get("access-control-allow-origin"), null);
      }
    });
  }

  test("a page of a listed origin that sends a token can read that a path doesn't exist", async () => {
    assert.equal((await preflight(first, "/in/typo")).headers.get("access-control-allow-origin"), first);
    const response = await sendRequest("/in/typo", first, "GET", { authorization: "Bearer x" });
    assert.deepEqual([response.status, response.headers.get("access-control-allow-origin")], [404, "*"]);
  });

  test("sends Vary: Origin in every response", async () => {
    for (const origin of [first, "https://evil.example", undefined]) {
      for (const path of ["/in/fine", "/in/broken"]) {
        assert.match(String((await sendRequest(path, origin)).headers.get("vary")), /\borigin\b/i);
      }
    }
    assert.match(String((await preflight(first)).headers.get("vary")), /\borigin\b/i);
  });

  test("never allows credentials", async () => {
    for (const response of [await sendRequest("/in/fine", first), await preflight(first)]) {
      assert.equal(response.headers.get("access-control-allow-credentials"), null);
    }
  });

  test("doesn't affect routes outside its scope", async () => {
    for (const path of ["/outside", "/health/live"]) {
      const response = await sendRequest(path, first);
      assert.equal(response.headers.get("access-control-allow-origin"), null, path);
      assert.equal(response.headers.get("vary"), null);
    }
    assert.equal((await preflight(first, "/outside")).status, 405);
  });
});

test("without listed origins there are no preflight routes and no CORS headers", async (t) => {
  const { url, server } = await startWith(cleanUpAfter(t), []);
  assert.deepEqual(
    server.routesAndAccess.filter(({ method }) => method === "OPTIONS"),
    [],
  );
  const headers = { origin: first };
  assert.equal((await fetch(`${url}/in/fine`, { method: "OPTIONS", headers })).status, 405);
  const response = await fetch(`${url}/in/fine`, { headers });
  assert.equal(response.headers.get("access-control-allow-origin"), null);
  assert.equal(response.headers.get("access-control-expose-headers"), null);
  assert.equal(response.headers.get("vary"), null);
});
