import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { apiReference } from "./api-reference.ts";
import { problemResponses } from "./problem.ts";
import { startTestServer, type TestServer } from "./server.test-support.ts";

const thing = { $id: "Thing", type: "object", properties: { id: { type: "string" } } };

interface OpenApi {
  openapi: string;
  info: { title: string };
  servers: { url: string }[];
  paths: Record<
    string,
    Record<
      string,
      {
        requestBody?: { required: boolean };
        responses: Record<string, { description: string; content?: Record<string, object> }>;
      }
    >
  >;
  webhooks: Record<string, object>;
  components: { schemas: Record<string, object> };
}

describe("the API reference", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  before(async () => {
    running = await startTestServer(cleanUp, {
      routes: async (server) => {
        const basePath = "/api/v1";
        await apiReference(server, {
          title: "Things",
          version: "1.0.0",
          description: "",
          basePath,
          tags: [],
          tokens: "From the test.",
          webhooks: { requests: { "thing.made": { post: {} } }, shapes: [{ $id: "Made", type: "object" }] },
        });
        await server.register(
          async (scope) => {
            scope.addSchema(thing);
            const response = {
              200: { description: "It", $ref: "Thing#" },
              ...problemResponses(404, { 422: "The thing is broken", 503: "No thing is at hand" }),
            };
            scope.get("/things/:id", { schema: { operationId: "getThing", response } }, () => ({ id: "1" }));
            const body = { type: "object" };
            scope.put("/things/:id", { schema: { operationId: "putThing", body, response } }, () => ({ id: "1" }));
            scope.post(
              "/things/:id",
              { schema: { operationId: "touchThing", body, response }, config: { bodyMayBeOmitted: true } },
              () => ({ id: "1" }),
            );
          },
          { prefix: basePath },
        );
      },
    });
  });
  const document = async (): Promise<OpenApi> =>
    JSON.parse(await (await fetch(`${running.url}/api/v1/openapi.json`)).text());

  test("the document lists every route of the API, and no operations route", async () => {
    const { openapi, info, servers, paths } = await document();
    assert.deepEqual([openapi, info.title, servers], ["3.1.0", "Things", [{ url: "/api/v1" }]]);
    assert.deepEqual(Object.keys(paths), ["/things/{id}"]);
  });

  test("the document has a problem for each error status, and named schemas", async () => {
    const { paths, components } = await document();
    const responses = paths["/things/{id}"]?.["get"]?.responses ?? {};
    for (const status of [400, 404, 408, 414, 429, 431, 500, 503]) {
      assert.deepEqual(responses[status]?.content, {
        "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
      });
    }
    assert.deepEqual(Object.keys(components.schemas).toSorted(), ["Made", "Problem", "Thing"]);
  });

  test("the document requires a body, except for routes where it is optional", async () => {
    const { put, post } = (await document()).paths["/things/{id}"] ?? {};
    assert.deepEqual([put?.requestBody?.required, post?.requestBody?.required], [true, false]);
  });

  test("a route can describe a status itself", async () => {
    const { paths } = await document();
    const responses = paths["/things/{id}"]?.["get"]?.responses ?? {};
    assert.deepEqual(
      [422, 503, 429].map((status) => responses[status]?.description),
      ["The thing is broken", "No thing is at hand", "Too many requests; retry after `Retry-After` seconds"],
    );
  });

  test("the document contains the webhooks", async () => {
    assert.deepEqual((await document()).webhooks, { "thing.made": { post: {} } });
  });

  test("the document can be read from any origin, and is cached by its ETag", async () => {
    const response = await fetch(`${running.url}/api/v1/openapi.json`);
    assert.equal(response.headers.get("access-control-allow-origin"), "*");
    const again = await fetch(`${running.url}/api/v1/openapi.json`, {
      headers: { "if-none-match": String(response.headers.get("etag")) },
    });
    assert.equal(again.status, 304);
  });

  test("the page at /docs loads nothing from other origins, enforced by its Content-Security-Policy", async () => {
    const response = await fetch(`${running.url}/docs/`);
    assert.equal(response.status, 200);
    const policy = String(response.headers.get("content-security-policy"));
    assert.match(policy, /default-src 'self'.*connect-src 'self'.*frame-ancestors 'none'/);
    const page = await response.text();
    assert.match(page, /<title>Things<\/title>/);
    assert.doesNotMatch(page, /(?:src|href)=["']?(?:https?:)?\/\//);
  });

  test("the page's script is compressed and cached by its ETag", async () => {
    const page = await (await fetch(`${running.url}/docs/`)).text();
    const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? "";
    const url = new URL(script, `${running.url}/docs/`);
    const response = await fetch(url, { headers: { "accept-encoding": "br" } });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-encoding"), "br");
    await response.arrayBuffer();
    const known = { "accept-encoding": "br", "if-none-match": String(response.headers.get("etag")) };
    assert.equal((await fetch(url, { headers: known })).status, 304);
  });
});
