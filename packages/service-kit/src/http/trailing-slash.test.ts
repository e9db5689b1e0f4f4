import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { assertSecurityHeaders, startTestServer, type TestServer } from "./server.test-support.ts";

describe("a slash at the end of a path", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  before(async () => {
    running = await startTestServer(cleanUp, {
      routes: (server) => {
        server.get("/things", () => []);
        server.post("/things", () => ({}));
        server.get("/things/:id", ({ params }) => params);
        server.get("/folder/", () => "the folder");
        server.get("/files/*", () => "a file");
        server.get("/closed", { config: { access: ["operator"] } }, () => ({}));
      },
    });
  });
  const send = (path: string, method = "GET"): Promise<Response> =>
    fetch(`${running.url}${path}`, { method, redirect: "manual" });

  for (const [path, location] of [
    ["/things/", "/things"],
    ["/things//", "/things"],
    ["/things/?size=2&sort=a/", "/things?size=2&sort=a/"],
    ["/things/a%2Fb/", "/things/a%2Fb"],
    ["/health/ready/", "/health/ready"],
    ["/health/", "/health"],
    ["/api/v1/", "/api/v1"],
    ["/closed/", "/closed"],
  ] as const) {
    test(`redirects ${path} to ${location}`, async () => {
      for (const method of ["GET", "HEAD"]) {
        const response = await send(path, method);
        assert.deepEqual([response.status, response.headers.get("location")], [308, location], method);
        assertSecurityHeaders(response);
        assert.equal(
          response.headers.get("access-control-allow-origin"),
          "*",
          "a page of another origin can follow it",
        );
      }
    });
  }

  test("leaves a path alone that a route has with its slash, and the files of a wildcard route", async () => {
    for (const path of ["/", "/folder/", "/files/", "/files/a/"]) assert.equal((await send(path)).status, 200, path);
  });

  test("is 404 for another method, which says where the route is", async () => {
    const { detail } = await assertProblem(await send("/things/", "POST"), 404, "not-found");
    assert.match(String(detail), /without the slash/);
  });

  test("is 404 where the path without it isn't known, also if the path looks like another host", async () => {
    for (const path of ["/nothing/", "//", "//evil.example/", "//things/", "/%5Cevil.example/"]) {
      const { detail } = await assertProblem(await send(path), 404, "not-found");
      assert.doesNotMatch(String(detail), /slash/, path);
    }
  });
});
