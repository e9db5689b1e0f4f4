import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { IssuerUnavailableError } from "../tokens/issuer-keys.ts";
import { createCaller, createVerifier } from "./access.test-support.ts";
import { limitCallers } from "./access.ts";
import { startTestServer } from "./server.test-support.ts";

async function limitedTo(t: TestContext, requestsPerMinute: number) {
  const verifier = createVerifier({
    one: createCaller("one", ["operator"]),
    "one-again": createCaller("one", ["operator"]),
    two: createCaller("two", ["operator"]),
    "one-of-another-issuer": createCaller("one", ["operator"], { issuer: "https://other.example" }),
    joined: createCaller('one","two', ["operator"]),
    unallowed: createCaller("unallowed", []),
    service: createCaller("service", ["ehr-service"]),
    away: new IssuerUnavailableError("away"),
    broken: new Error("broken"),
  });
  const running = await startTestServer(cleanUpAfter(t), {
    closed: true,
    trustedProxies: ["127.0.0.1"],
    access: { tokens: verifier, requestsPerMinute, requestsAtOnce: 4, refusedTokensPerMinute: requestsPerMinute },
    routes: async (server) => {
      const config = { access: ["operator", "ehr-service"] } as const;
      server.get("/a", { config }, () => ({}));
      server.get("/unlimited", { config: { ...config, isUnlimited: true } }, () => ({}));
      const onRequest = limitCallers(server, requestsPerMinute * 2);
      server.get("/own-limit", { config: { ...config, isUnlimited: true }, onRequest }, () => ({}));
      server.get("/open", { config: { access: "anyone" } }, () => ({}));
      await server.register(async (scope) => scope.post("/b", { config }, () => ({})));
    },
  });
  const sendRequest = (token: string | undefined, path = "/a", from = "203.0.113.1"): Promise<Response> =>
    fetch(`${running.url}${path}`, {
      method: path === "/b" ? "POST" : "GET",
      headers: { "x-forwarded-for": from, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    });
  const statuses = async (...asked: Parameters<typeof sendRequest>[]): Promise<number[]> => {
    const seen: number[] = [];
    for (const each of asked) seen.push((await sendRequest(...each)).status);
    return seen;
  };
  return { verifier, sendRequest, statuses };
}

test("limits a caller over all routes, tokens and addresses", async (t) => {
  const { sendRequest, statuses } = await limitedTo(t, 3);
  assert.deepEqual(await statuses(["one", "/a"], ["one-again", "/b"], ["one", "/a", "203.0.113.2"]), [200, 200, 200]);
  const response = await sendRequest("one-again", "/b", "203.0.113.3");
  const { detail } = await assertProblem(response, 429, "rate-limited");
  assert.match(String(detail), /^The limit is 3 requests per minute for each caller\. Retry in \d+ s\.$/);
  const seconds = Number(response.headers.get("retry-after"));
  assert.ok(seconds >= 1 && seconds <= 60, String(seconds));
  assert.equal(response.headers.get("ratelimit-limit"), "3");
});

test("counts callers separately, also with the same subject at different issuers", async (t) => {
  const { statuses } = await limitedTo(t, 1);
  assert.deepEqual(
    await statuses(["one"], ["two"], ["one-of-another-issuer"], ["joined"], ["one"], ["two"], ["joined"]),
    [200, 200, 200, 200, 429, 429, 429],
  );
});

test("counts forbidden requests too", async (t) => {
  const { statuses } = await limitedTo(t, 2);
  assert.deepEqual(await statuses(["unallowed"], ["unallowed"], ["unallowed"]), [403, 403, 429]);
});

test("doesn't limit an EHR service", async (t) => {
  const { statuses } = await limitedTo(t, 1);
  assert.deepEqual(await statuses(...Array.from({ length: 20 }, (): [string] => ["service"])), Array(20).fill(200));
});

test("doesn't limit those who may call a route without a limit, and others as on any route", async (t) => {
  const { statuses } = await limitedTo(t, 1);
  const requests = Array.from({ length: 20 }, (): [string, string] => ["one", "/unlimited"]);
  assert.deepEqual(await statuses(...requests, ["one", "/a"], ["one", "/a"]), [...Array(21).fill(200), 429]);
  assert.deepEqual(await statuses(["unallowed", "/unlimited"], ["unallowed", "/unlimited"]), [403, 429]);
});

test("a route with a limit of its own counts its callers by themselves", async (t) => {
  const { sendRequest, statuses } = await limitedTo(t, 1);
  const route = "/own-limit";
  assert.deepEqual(await statuses(["one", route], ["one-again", route], ["one", "/a"]), [200, 200, 200]);
  const { detail } = await assertProblem(await sendRequest("one", route), 429, "rate-limited");
  assert.match(String(detail), /^The limit of this route is 2 requests per minute for each caller\. Retry in \d+ s\.$/);
  assert.deepEqual(await statuses(["two", route], ["two", "/a"], ["two", "/a"]), [200, 200, 429]);
  assert.deepEqual(await statuses(["unallowed", route], ["unallowed", route]), [403, 429]);
});

test("returns 429 above the limit of invalid tokens per address", async (t) => {
  const { sendRequest, statuses } = await limitedTo(t, 3);
  const notTried = Array.from({ length: 5 }, (): [string | undefined] => [undefined]);
  assert.deepEqual(new Set(await statuses(...notTried, ["not a token"])), new Set([401]), "these cost us nothing");
  assert.deepEqual(await statuses(["expired"], ["expired", "/b"], ["expired"]), [401, 401, 401]);
  const response = await sendRequest("expired");
  const { detail } = await assertProblem(response, 429, "rate-limited");
  assert.match(String(detail), /^Too many invalid tokens were sent from this address\. Retry in \d+ s\.$/);
  assert.ok(Number(response.headers.get("retry-after")) >= 1);
  assert.deepEqual(await statuses(["expired", "/b"], [undefined]), [429, 401]);
  assert.deepEqual(await statuses(["one", "/a", "203.0.113.2"], ["expired", "/a", "203.0.113.2"]), [200, 401]);
  assert.deepEqual(await statuses([undefined, "/open"]), [200]);
});

test("accepts a valid token from an address above the limit", async (t) => {
  const { statuses } = await limitedTo(t, 3);
  assert.deepEqual(await statuses(["expired"], ["expired"], ["expired"], ["expired"]), [401, 401, 401, 429]);
  assert.deepEqual(await statuses(["one"], ["two"], ["away"], ["unallowed"]), [200, 200, 503, 403]);
});

test("counts invalid tokens per IPv6 /64 network", async (t) => {
  const { statuses } = await limitedTo(t, 1);
  const from = (address: string): [string, string, string] => ["expired", "/a", address];
  assert.deepEqual(
    await statuses(from("2001:db8::1"), from("2001:db8::ffff:2"), from("2001:db8:0:1::1")),
    [401, 429, 401],
  );
});

test("counts only invalid tokens, not errors of the service", async (t) => {
  const { statuses } = await limitedTo(t, 2);
  assert.deepEqual(
    await statuses(["away"], ["away"], ["broken"], ["broken"], ["unallowed"], ["one"], ["expired"], ["one"]),
    [503, 503, 500, 500, 403, 200, 401, 200],
  );
});
