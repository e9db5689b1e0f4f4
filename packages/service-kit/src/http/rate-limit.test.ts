import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { limitRate } from "./rate-limit.ts";
import { assertSecurityHeaders, startTestServer } from "./server.test-support.ts";

/** Sends requests with these X-Forwarded-For headers, and returns the statuses. */
async function limitedTo(t: TestContext, perMinute: number, trustedProxies: string[] = []) {
  const running = await startTestServer(cleanUpAfter(t), {
    trustedProxies,
    routes: async (server) => {
      server.get("/unlimited", () => ({}));
      await server.register(async (scope) => {
        limitRate(scope, perMinute);
        scope.get("/limited", () => ({}));
        scope.get("/limited/too", () => ({}));
      });
    },
  });
  const sendRequest = (from?: string, path = "/limited"): Promise<Response> =>
    fetch(`${running.url}${path}`, { headers: from === undefined ? {} : { "x-forwarded-for": from } });
  const statuses = async (...from: (string | undefined)[]): Promise<number[]> => {
    const seen: number[] = [];
    for (const address of from) seen.push((await sendRequest(address)).status);
    return seen;
  };
  return { sendRequest, statuses };
}

const proxies = ["127.0.0.1", "10.0.0.0/8"];

test("returns 429 with Retry-After and the limit above the limit", async (t) => {
  const { sendRequest, statuses } = await limitedTo(t, 3);
  assert.deepEqual(await statuses(undefined, undefined, undefined), [200, 200, 200]);
  const response = await sendRequest();
  const { instance, detail } = await assertProblem(response, 429, "rate-limited");
  assertSecurityHeaders(response, instance);
  const seconds = Number(response.headers.get("retry-after"));
  assert.ok(seconds >= 1 && seconds <= 60, String(seconds));
  assert.equal(detail, `The limit is 3 requests per minute for each address. Retry in ${seconds} s.`);
  assert.equal(response.headers.get("ratelimit-limit"), "3");
  assert.equal(response.headers.get("ratelimit-remaining"), "0");
  assert.equal(response.headers.get("ratelimit-reset"), String(seconds));
});

test("counts all routes of a scope together, and none outside it", async (t) => {
  const { sendRequest } = await limitedTo(t, 2);
  await sendRequest(undefined, "/limited");
  await sendRequest(undefined, "/limited/too");
  assert.equal((await sendRequest(undefined, "/limited/too")).status, 429);
  assert.equal((await sendRequest(undefined, "/unlimited")).status, 200);
  assert.equal((await sendRequest(undefined, "/health/live")).status, 200);
});

test("ignores X-Forwarded-For without a trusted proxy", async (t) => {
  const { statuses } = await limitedTo(t, 1);
  assert.deepEqual(await statuses("203.0.113.1", "203.0.113.2"), [200, 429]);
});

test("ignores X-Forwarded-For from an untrusted address", async (t) => {
  const { statuses } = await limitedTo(t, 1, ["192.0.2.0/24"]);
  assert.deepEqual(await statuses("203.0.113.1", "203.0.113.2"), [200, 429]);
});

test("counts each caller separately behind trusted proxies", async (t) => {
  const { statuses } = await limitedTo(t, 1, proxies);
  assert.deepEqual(await statuses("203.0.113.1", "203.0.113.2", "203.0.113.1"), [200, 200, 429]);
});

test("counts the last hop that isn't a trusted proxy, whatever it claims to forward", async (t) => {
  const { statuses } = await limitedTo(t, 1, proxies);
  assert.deepEqual(
    await statuses("198.51.100.1, 203.0.113.1", "198.51.100.2, 203.0.113.1, 10.1.2.3", "nonsense, 203.0.113.1"),
    [200, 429, 429],
  );
});

test("counts an IPv6 caller by its /64 network", async (t) => {
  const { statuses } = await limitedTo(t, 2, proxies);
  assert.deepEqual(
    await statuses("2001:db8:1:1::1", "2001:db8:1:1:ffff:ffff:ffff:ffff", "2001:DB8:1:1:0:0:0:2", "2001:db8:1:2::1"),
    [200, 200, 429, 200],
  );
});

test("counts an IPv4-mapped IPv6 address as the IPv4 address", async (t) => {
  const { statuses } = await limitedTo(t, 1, proxies);
  assert.deepEqual(await statuses("203.0.113.9", "::ffff:203.0.113.9", "::ffff:203.0.113.10"), [200, 429, 200]);
});

test("tolerates garbage in X-Forwarded-For", async (t) => {
  const { statuses } = await limitedTo(t, 100, proxies);
  for (const status of await statuses("", ",", "unknown", "1.2.3.4:80", "[::1]:80", "::", "x".repeat(4_000), "<a>")) {
    assert.equal(status, 200);
  }
});
