import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { IssuerUnavailableError } from "../tokens/issuer-keys.ts";
import { createCaller, createVerifier, type Verifier } from "./access.test-support.ts";
import { forbidden, getCaller } from "./access.ts";
import { allowListedOrigins } from "./listed-origins.ts";
import { assertSecurityHeaders, startTestServer, type TestServer } from "./server.test-support.ts";

const origin = "https://console.example.com";

describe("a route that requires a token", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  let verifier: Verifier;
  let handled = 0;
  before(async () => {
    verifier = createVerifier({
      operator: createCaller("the operator", ["operator"]),
      admin: createCaller("an admin", [], { organisations: new Map([["a", new Set(["org-admin"] as const)]]) }),
      developer: createCaller("a developer", [], { ignoredRoleReasons: ["One role is ignored.", "Nor is another."] }),
      unavailable: new IssuerUnavailableError("http://10.0.0.7/keys is unavailable"),
      broken: Object.assign(new Error("select secret from keys"), { host: "10.0.0.7" }),
      "a.b-c_d~e+f/g==": createCaller("in every letter", ["operator"]),
    });
    running = await startTestServer(cleanUp, {
      closed: true,
      access: {
        tokens: verifier,
        requestsPerMinute: 1_000_000,
        requestsAtOnce: 1_000,
        refusedTokensPerMinute: 1_000_000,
      },
      routes: async (server) => {
        server.get("/open", { config: { access: "anyone" } }, (request) => ({ caller: request.caller ?? null }));
        server.get("/open/misled", { config: { access: "anyone" } }, (request) => getCaller(request));
        await server.register(
          async (scope) => {
            await allowListedOrigins(scope, [origin]);
            const config = { access: ["operator", "org-admin"] } as const;
            const count = (_request: unknown, _reply: unknown, next: () => void): void => {
              handled += 1;
              next();
            };
            scope.get("/", { config, onRequest: count }, (request) => ({ subject: getCaller(request).subject }));
            scope.post("/", { config }, (request) => ({ subject: getCaller(request).subject }));
            scope.get("/picky", { config }, (request) => {
              throw forbidden(getCaller(request), "This isn't yours.");
            });
          },
          { prefix: "/closed" },
        );
      },
    });
  });
  const sendRequest = (authorization?: string, path = "/closed", request: RequestInit = {}): Promise<Response> =>
    fetch(`${running.url}${path}`, {
      ...request,
      headers: { origin, ...(authorization === undefined ? {} : { authorization }) },
    });

  test("returns 401 with a bare challenge without a token, as RFC 6750 requires", async () => {
    const response = await sendRequest();
    const problem = await assertProblem(response, 401, "unauthorized");
    assertSecurityHeaders(response, problem["instance"]);
    assert.equal(problem["detail"], "No token was sent.");
    assert.equal(response.headers.get("www-authenticate"), 'Bearer realm="api"');
    assert.equal(response.headers.get("cache-control"), "no-store");
  });

  for (const header of [
    "",
    "Bearer",
    "Bearer ",
    "operator",
    "Basic b3BlcmF0b3I6",
    "Bearer: operator",
    "Bearer\toperator",
    "Bearer operator operator",
    'Bearer "operator"',
    "Bearer operator,",
    "Bearer ope=rator",
    "Bearer op§rator",
    "BearerX operator",
    "Bearer operator, Bearer operator",
    "Token operator",
  ]) {
    test(`with the header ${JSON.stringify(header)} is 401, and nothing is verified`, async () => {
      verifier.verified.length = 0;
      const response = await sendRequest(header);
      const { detail } = await assertProblem(response, 401, "unauthorized");
      assert.match(String(detail), /^The Authorization header must have the form: Bearer <token>\.$/);
      assert.equal(response.headers.get("www-authenticate"), 'Bearer realm="api"');
      assert.deepEqual(verifier.verified, []);
    });
  }

  test("returns 401 with the reason, also in the challenge, for an invalid token", async () => {
    const response = await sendRequest("Bearer expired");
    const { detail } = await assertProblem(response, 401, "unauthorized");
    assert.equal(detail, "The token is invalid. It has expired.");
    assert.equal(
      response.headers.get("www-authenticate"),
      'Bearer realm="api", error="invalid_token", error_description="It has expired."',
    );
  });

  test("can be called from a page of a listed origin, which can read a refusal", async () => {
    for (const [authorization, status] of [
      [undefined, 401],
      ["Bearer expired", 401],
      ["Bearer developer", 403],
      ["Bearer unavailable", 503],
      ["Bearer operator", 200],
    ] as const) {
      const response = await sendRequest(authorization);
      assert.equal(response.status, status);
      assert.equal(response.headers.get("access-control-allow-origin"), origin, String(status));
    }
  });

  test("accepts the scheme in any case, and every character of a token", async () => {
    for (const header of [
      "Bearer operator",
      "bearer operator",
      "BEARER operator",
      "Bearer   operator",
      "Bearer operator  ",
    ]) {
      assert.deepEqual(await (await sendRequest(header)).json(), { subject: "the operator" }, header);
    }
    assert.deepEqual(await (await sendRequest("Bearer a.b-c_d~e+f/g==")).json(), { subject: "in every letter" });
  });

  test("accepts no token from the URL or the body", async () => {
    assert.equal((await sendRequest(undefined, "/closed?access_token=operator")).status, 401);
    const body = new URLSearchParams({ access_token: "operator" });
    assert.equal((await sendRequest(undefined, "/closed", { method: "POST", body })).status, 401);
  });

  test("allows each of its roles, also organisation roles", async () => {
    assert.deepEqual(await (await sendRequest("Bearer admin")).json(), { subject: "an admin" });
  });

  test("returns 403 to other roles, with the required roles and why roles of the token were ignored", async () => {
    for (const [path, reason] of [
      ["/closed", "This route requires one of the roles operator, org-admin."],
      ["/closed/", "This route requires one of the roles operator, org-admin."],
    ] as const) {
      const response = await sendRequest("Bearer developer", path);
      const { detail } = await assertProblem(response, 403, "forbidden");
      assert.equal(detail, `${reason} One role is ignored. Nor is another.`);
      assert.equal(response.headers.get("www-authenticate"), null);
    }
    const { detail } = await assertProblem(await sendRequest("Bearer operator", "/closed/picky"), 403, "forbidden");
    assert.equal(detail, "This isn't yours.");
  });

  test("verifies once per request, for each method, before the route's own hooks", async () => {
    for (const method of ["GET", "HEAD", "POST"]) {
      verifier.verified.length = 0;
      assert.equal((await sendRequest("Bearer operator", "/closed", { method })).status, 200);
      assert.deepEqual(verifier.verified, ["operator"], method);
    }
    handled = 0;
    for (const method of ["GET", "HEAD"]) {
      for (const [token, status] of [
        ["Bearer expired", 401],
        ["Bearer developer", 403],
        [undefined, 401],
      ] as const) {
        assert.equal((await sendRequest(token, "/closed", { method })).status, status);
      }
    }
    assert.equal(handled, 0);
  });

  test("refuses before the body is read", async () => {
    const body = "{";
    assert.equal((await sendRequest(undefined, "/closed", { method: "POST", body })).status, 401);
  });

  test("returns 503 with Retry-After while the issuer is unavailable", async () => {
    const response = await sendRequest("Bearer unavailable");
    const { detail } = await assertProblem(response, 503, "unavailable");
    assert.equal(detail, "Tokens can't be verified, because the token issuer is unavailable.");
    assert.equal(response.headers.get("retry-after"), "5");
    assert.equal(response.headers.get("www-authenticate"), null);
  });

  test("returns 500 without details when verification fails unexpectedly", async () => {
    const response = await sendRequest("Bearer broken");
    const problem = await assertProblem(response, 500, "internal-error");
    assert.doesNotMatch(JSON.stringify([problem, ...response.headers]), /select|secret|10\.0\.0\.7/);
  });

  test("a public route verifies no token, and its requests have no caller", async () => {
    verifier.verified.length = 0;
    for (const header of [undefined, "Bearer operator", "Bearer expired", "nonsense"]) {
      assert.deepEqual(await (await sendRequest(header, "/open")).json(), { caller: null });
      assert.equal((await sendRequest(header, "/health/live")).status, 200);
    }
    assert.deepEqual(verifier.verified, []);
    await assertProblem(await sendRequest("Bearer operator", "/open/misled"), 500, "internal-error");
  });

  test("returns 404 for unknown paths and 405 for other methods, not 401", async () => {
    await assertProblem(await sendRequest(undefined, "/closed/nowhere"), 404, "not-found");
    await assertProblem(await sendRequest(undefined, "/closed", { method: "DELETE" }), 405, "method-not-allowed");
  });
});
