import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { assertProblem, cleanUpAfter } from "@ehr-marketplace/tests/support";
import { IssuerAwayError } from "../tokens/issuer-keys.ts";
import { callerNamed, verifierOf } from "./access.test-support.ts";
import { startTestServer } from "./server.test-support.ts";

async function limitedTo(t: TestContext, requestsPerMinute: number) {
  const verifier = verifierOf({
    one: callerNamed("one", ["operator"]),
    "one-again": callerNamed("one", ["operator"]),
    two: callerNamed("two", ["operator"]),
    "one-of-another-issuer": callerNamed("one", ["operator"], { issuer: "https://other.example" }),
    joined: callerNamed('one","two', ["operator"]),
    unallowed: callerNamed("unallowed", []),
    service: callerNamed("service", ["ehr-service"]),
    away: new IssuerAwayError("away"),
    broken: new Error("broken"),
  });
  const running = await startTestServer(cleanUpAfter(t), {
    closed: true,
    trustedProxies: ["127.0.0.1"],
    access: { tokens: verifier, requestsPerMinute, refusedTokensPerMinute: requestsPerMinute },
    routes: async (server) => {
      const config = { access: ["operator", "ehr-service"] } as const;
      server.get("/a", { config }, () => ({}));
      server.get("/open", { config: { access: "anyone" } }, () => ({}));
      await server.register(async (scope) => scope.post("/b", { config }, () => ({})));
    },
  });
  const ask = (token: string | undefined, path = "/a", from = "203.0.113.1"): Promise<Response> =>
    fetch(`${running.url}${path}`, {
      method: path === "/b" ? "POST" : "GET",
      headers: { "x-forwarded-for": from, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    });
  const statuses = async (...asked: Parameters<typeof ask>[]): Promise<number[]> => {
    const seen: number[] = [];
    for (const each of asked) seen.push((await ask(...each)).status);
    return seen;
  };
  return { verifier, ask, statuses };
}

test("a caller is counted over all routes, tokens and addresses, and then 429", async (t) => {
  const { ask, statuses } = await limitedTo(t, 3);
  assert.deepEqual(await statuses(["one", "/a"], ["one-again", "/b"], ["one", "/a", "203.0.113.2"]), [200, 200, 200]);
  const answer = await ask("one-again", "/b", "203.0.113.3");
  await assertProblem(answer, 429, "rate-limited");
  const seconds = Number(answer.headers.get("retry-after"));
  assert.ok(seconds >= 1 && seconds <= 60, String(seconds));
  assert.equal(answer.headers.get("ratelimit-limit"), "3");
});

test("callers are counted apart, also where one has the other's name at another issuer", async (t) => {
  const { statuses } = await limitedTo(t, 1);
  assert.deepEqual(
    await statuses(["one"], ["two"], ["one-of-another-issuer"], ["joined"], ["one"], ["two"], ["joined"]),
    [200, 200, 200, 200, 429, 429, 429],
  );
});

test("whoever is not allowed is counted all the same", async (t) => {
  const { statuses } = await limitedTo(t, 2);
  assert.deepEqual(await statuses(["unallowed"], ["unallowed"], ["unallowed"]), [403, 403, 429]);
});

test("an EHR's backend has no limit", async (t) => {
  const { statuses } = await limitedTo(t, 1);
  assert.deepEqual(await statuses(...Array.from({ length: 20 }, (): [string] => ["service"])), Array(20).fill(200));
});

test("refusals are counted per address, and beyond the limit they are 429", async (t) => {
  const { ask, statuses } = await limitedTo(t, 3);
  const notTried = Array.from({ length: 5 }, (): [string | undefined] => [undefined]);
  assert.deepEqual(new Set(await statuses(...notTried, ["not a token"])), new Set([401]), "these cost us nothing");
  assert.deepEqual(await statuses(["expired"], ["expired", "/b"], ["expired"]), [401, 401, 401]);
  const answer = await ask("expired");
  await assertProblem(answer, 429, "rate-limited");
  assert.ok(Number(answer.headers.get("retry-after")) >= 1);
  assert.deepEqual(await statuses(["expired", "/b"], [undefined]), [429, 401]);
  assert.deepEqual(await statuses(["one", "/a", "203.0.113.2"], ["expired", "/a", "203.0.113.2"]), [200, 401]);
  assert.deepEqual(await statuses([undefined, "/open"]), [200]);
});

test("a good token from an address beyond the limit is served", async (t) => {
  const { statuses } = await limitedTo(t, 3);
  assert.deepEqual(await statuses(["expired"], ["expired"], ["expired"], ["expired"]), [401, 401, 401, 429]);
  assert.deepEqual(await statuses(["one"], ["two"], ["away"], ["unallowed"]), [200, 200, 503, 403]);
});

test("an address of IPv6 that is refused is its /64", async (t) => {
  const { statuses } = await limitedTo(t, 1);
  const from = (address: string): [string, string, string] => ["expired", "/a", address];
  assert.deepEqual(
    await statuses(from("2001:db8::1"), from("2001:db8::ffff:2"), from("2001:db8:0:1::1")),
    [401, 429, 401],
  );
});

test("only what is wrong with a token counts against an address, not what is wrong with us", async (t) => {
  const { statuses } = await limitedTo(t, 2);
  assert.deepEqual(
    await statuses(["away"], ["away"], ["broken"], ["broken"], ["unallowed"], ["one"], ["expired"], ["one"]),
    [503, 503, 500, 500, 403, 200, 401, 200],
  );
});
