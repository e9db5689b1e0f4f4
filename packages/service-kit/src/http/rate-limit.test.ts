import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { assertProblem, cleanUpAfter } from "@ehr-marketplace/tests/support";
import { limitRate } from "./rate-limit.ts";
import { assertGuarded, startTestServer } from "./server.test-support.ts";

/** Asks from the address that a proxy, or a liar, names; tells the statuses. */
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
  const ask = (from?: string, path = "/limited"): Promise<Response> =>
    fetch(`${running.url}${path}`, { headers: from === undefined ? {} : { "x-forwarded-for": from } });
  const statuses = async (...from: (string | undefined)[]): Promise<number[]> => {
    const seen: number[] = [];
    for (const address of from) seen.push((await ask(address)).status);
    return seen;
  };
  return { ask, statuses };
}

const proxies = ["127.0.0.1", "10.0.0.0/8"];

test("beyond the limit is 429, with Retry-After and how much is served", async (t) => {
  const { ask, statuses } = await limitedTo(t, 3);
  assert.deepEqual(await statuses(undefined, undefined, undefined), [200, 200, 200]);
  const answer = await ask();
  const { instance, detail } = await assertProblem(answer, 429, "rate-limited");
  assertGuarded(answer, instance);
  const seconds = Number(answer.headers.get("retry-after"));
  assert.ok(seconds >= 1 && seconds <= 60, String(seconds));
  assert.equal(detail, `At most 3 requests a minute are served to one caller. Try again in ${seconds} s.`);
  assert.equal(answer.headers.get("ratelimit-limit"), "3");
  assert.equal(answer.headers.get("ratelimit-remaining"), "0");
  assert.equal(answer.headers.get("ratelimit-reset"), String(seconds));
});

test("routes of one scope are counted together, those outside it not at all", async (t) => {
  const { ask } = await limitedTo(t, 2);
  await ask(undefined, "/limited");
  await ask(undefined, "/limited/too");
  assert.equal((await ask(undefined, "/limited/too")).status, 429);
  assert.equal((await ask(undefined, "/unlimited")).status, 200);
  assert.equal((await ask(undefined, "/health/live")).status, 200);
});

test("X-Forwarded-For is not believed where no proxy is trusted", async (t) => {
  const { statuses } = await limitedTo(t, 1);
  assert.deepEqual(await statuses("203.0.113.1", "203.0.113.2"), [200, 429]);
});

test("X-Forwarded-For is not believed from an address that is no trusted proxy", async (t) => {
  const { statuses } = await limitedTo(t, 1, ["192.0.2.0/24"]);
  assert.deepEqual(await statuses("203.0.113.1", "203.0.113.2"), [200, 429]);
});

test("behind trusted proxies each caller is counted by itself", async (t) => {
  const { statuses } = await limitedTo(t, 1, proxies);
  assert.deepEqual(await statuses("203.0.113.1", "203.0.113.2", "203.0.113.1"), [200, 200, 429]);
});

test("the caller is the last hop that is no trusted proxy: what it claims to forward changes nothing", async (t) => {
  const { statuses } = await limitedTo(t, 1, proxies);
  assert.deepEqual(
    await statuses("198.51.100.1, 203.0.113.1", "198.51.100.2, 203.0.113.1, 10.1.2.3", "nonsense, 203.0.113.1"),
    [200, 429, 429],
  );
});

test("an IPv6 caller is its /64, however many addresses it has there", async (t) => {
  const { statuses } = await limitedTo(t, 2, proxies);
  assert.deepEqual(
    await statuses("2001:db8:1:1::1", "2001:db8:1:1:ffff:ffff:ffff:ffff", "2001:DB8:1:1:0:0:0:2", "2001:db8:1:2::1"),
    [200, 200, 429, 200],
  );
});

test("an IPv4 caller is the same one when written as IPv6", async (t) => {
  const { statuses } = await limitedTo(t, 1, proxies);
  assert.deepEqual(await statuses("203.0.113.9", "::ffff:203.0.113.9", "::ffff:203.0.113.10"), [200, 429, 200]);
});

test("garbage in X-Forwarded-For is harmless", async (t) => {
  const { statuses } = await limitedTo(t, 100, proxies);
  for (const status of await statuses("", ",", "unknown", "1.2.3.4:80", "[::1]:80", "::", "x".repeat(4_000), "<a>")) {
    assert.equal(status, 200);
  }
});
