import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { assertProblem, cleanUpAfter } from "@ehr-marketplace/tests/support";
import { IssuerAwayError } from "../tokens/issuer-keys.ts";
import { callerNamed, type Verifier, verifierOf } from "./access.test-support.ts";
import { callerOf, forbidden } from "./access.ts";
import { allowListedOrigins } from "./listed-origins.ts";
import { assertGuarded, startTestServer, type TestServer } from "./server.test-support.ts";

const origin = "https://console.example.com";

describe("a route that asks for a token", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  let verifier: Verifier;
  let handled = 0;
  before(async () => {
    verifier = verifierOf({
      operator: callerNamed("the operator", ["operator"]),
      admin: callerNamed("an admin", [], { organisations: new Map([["a", new Set(["org-admin"] as const)]]) }),
      developer: callerNamed("a developer", [], { uncounted: ["One role isn't counted.", "Nor is another."] }),
      away: new IssuerAwayError("http://10.0.0.7/keys does not answer"),
      broken: Object.assign(new Error("select secret from keys"), { host: "10.0.0.7" }),
      "a.b-c_d~e+f/g==": callerNamed("in every letter", ["operator"]),
    });
    running = await startTestServer(cleanUp, {
      closed: true,
      access: {
        tokens: verifier,
        requestsPerMinute: 1_000_000,
        refusedTokensPerMinute: 1_000_000,
      },
      routes: async (server) => {
        server.get("/open", { config: { access: "anyone" } }, (request) => ({ caller: request.caller ?? null }));
        server.get("/open/misled", { config: { access: "anyone" } }, (request) => callerOf(request));
        await server.register(
          async (scope) => {
            await allowListedOrigins(scope, [origin]);
            const config = { access: ["operator", "org-admin"] } as const;
            const count = (_request: unknown, _reply: unknown, next: () => void): void => {
              handled += 1;
              next();
            };
            scope.get("/", { config, onRequest: count }, (request) => ({ subject: callerOf(request).subject }));
            scope.post("/", { config }, (request) => ({ subject: callerOf(request).subject }));
            scope.get("/picky", { config }, (request) => {
              throw forbidden(callerOf(request), "This isn't yours.");
            });
          },
          { prefix: "/closed" },
        );
      },
    });
  });
  const ask = (authorization?: string, path = "/closed", request: RequestInit = {}): Promise<Response> =>
    fetch(`${running.url}${path}`, {
      ...request,
      headers: { origin, ...(authorization === undefined ? {} : { authorization }) },
    });

  test("without one is 401 with a challenge that says nothing else, as RFC 6750 asks", async () => {
    const answer = await ask();
    const problem = await assertProblem(answer, 401, "unauthorized");
    assertGuarded(answer, problem["instance"]);
    assert.equal(problem["detail"], "No token was sent.");
    assert.equal(answer.headers.get("www-authenticate"), 'Bearer realm="api"');
    assert.equal(answer.headers.get("cache-control"), "no-store");
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
      verifier.asked.length = 0;
      const answer = await ask(header);
      const { detail } = await assertProblem(answer, 401, "unauthorized");
      assert.match(String(detail), /^The Authorization header must be: Bearer, a space, and the token\.$/);
      assert.equal(answer.headers.get("www-authenticate"), 'Bearer realm="api"');
      assert.deepEqual(verifier.asked, []);
    });
  }

  test("with one that is refused is 401 with the reason, in the challenge as well", async () => {
    const answer = await ask("Bearer expired");
    const { detail } = await assertProblem(answer, 401, "unauthorized");
    assert.equal(detail, "The token is refused. It has expired.");
    assert.equal(
      answer.headers.get("www-authenticate"),
      'Bearer realm="api", error="invalid_token", error_description="It has expired."',
    );
  });

  test("can be asked from a page of a listed origin, which can read why it is refused", async () => {
    for (const [authorization, status] of [
      [undefined, 401],
      ["Bearer expired", 401],
      ["Bearer developer", 403],
      ["Bearer away", 503],
      ["Bearer operator", 200],
    ] as const) {
      const answer = await ask(authorization);
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get("access-control-allow-origin"), origin, String(status));
    }
  });

  test("takes the scheme in any case, and every letter that a token may have", async () => {
    for (const header of [
      "Bearer operator",
      "bearer operator",
      "BEARER operator",
      "Bearer   operator",
      "Bearer operator  ",
    ]) {
      assert.deepEqual(await (await ask(header)).json(), { subject: "the operator" }, header);
    }
    assert.deepEqual(await (await ask("Bearer a.b-c_d~e+f/g==")).json(), { subject: "in every letter" });
  });

  test("takes no token from the URL or the body", async () => {
    assert.equal((await ask(undefined, "/closed?access_token=operator")).status, 401);
    const body = new URLSearchParams({ access_token: "operator" });
    assert.equal((await ask(undefined, "/closed", { method: "POST", body })).status, 401);
  });

  test("is open to any role that it names, also to one held in an organisation", async () => {
    assert.deepEqual(await (await ask("Bearer admin")).json(), { subject: "an admin" });
  });

  test("is 403 to others, with the roles that are wanted and why those of the token don't count", async () => {
    for (const [path, why] of [
      ["/closed", "This is for callers with one of the roles operator, org-admin."],
      ["/closed/", "This is for callers with one of the roles operator, org-admin."],
    ] as const) {
      const answer = await ask("Bearer developer", path);
      const { detail } = await assertProblem(answer, 403, "forbidden");
      assert.equal(detail, `${why} One role isn't counted. Nor is another.`);
      assert.equal(answer.headers.get("www-authenticate"), null);
    }
    const { detail } = await assertProblem(await ask("Bearer operator", "/closed/picky"), 403, "forbidden");
    assert.equal(detail, "This isn't yours.");
  });

  test("verifies once per request, whatever the method, and before anything of the route's own runs", async () => {
    for (const method of ["GET", "HEAD", "POST"]) {
      verifier.asked.length = 0;
      assert.equal((await ask("Bearer operator", "/closed", { method })).status, 200);
      assert.deepEqual(verifier.asked, ["operator"], method);
    }
    handled = 0;
    for (const method of ["GET", "HEAD"]) {
      for (const [token, status] of [
        ["Bearer expired", 401],
        ["Bearer developer", 403],
        [undefined, 401],
      ] as const) {
        assert.equal((await ask(token, "/closed", { method })).status, status);
      }
    }
    assert.equal(handled, 0);
  });

  test("is refused before its body is read", async () => {
    const body = "{";
    assert.equal((await ask(undefined, "/closed", { method: "POST", body })).status, 401);
  });

  test("answers 503 with Retry-After while no token can be verified", async () => {
    const answer = await ask("Bearer away");
    const { detail } = await assertProblem(answer, 503, "unavailable");
    assert.equal(detail, "Tokens can't be verified yet, because their issuer doesn't answer.");
    assert.equal(answer.headers.get("retry-after"), "5");
    assert.equal(answer.headers.get("www-authenticate"), null);
  });

  test("answers 500 when verifying breaks, and tells nothing of it", async () => {
    const answer = await ask("Bearer broken");
    const problem = await assertProblem(answer, 500, "internal-error");
    assert.doesNotMatch(JSON.stringify([problem, ...answer.headers]), /select|secret|10\.0\.0\.7/);
  });

  test("a route that is open to anyone verifies nothing, and has no caller", async () => {
    verifier.asked.length = 0;
    for (const header of [undefined, "Bearer operator", "Bearer expired", "nonsense"]) {
      assert.deepEqual(await (await ask(header, "/open")).json(), { caller: null });
      assert.equal((await ask(header, "/health/live")).status, 200);
    }
    assert.deepEqual(verifier.asked, []);
    await assertProblem(await ask("Bearer operator", "/open/misled"), 500, "internal-error");
  });

  test("no path is 401 that isn't there: what doesn't exist is 404, what isn't allowed 405", async () => {
    await assertProblem(await ask(undefined, "/closed/nowhere"), 404, "not-found");
    await assertProblem(await ask(undefined, "/closed", { method: "DELETE" }), 405, "method-not-allowed");
  });
});
