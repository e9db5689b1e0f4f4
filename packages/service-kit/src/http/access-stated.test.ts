import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import type { FastifyInstance } from "fastify";
import { allowAnyone } from "./access.ts";
import { startTestServer } from "./server.test-support.ts";

const anyone = { config: { access: "anyone" } } as const;
const operators = { config: { access: ["operator"] } } as const;
const unstated = (routes: string): string => `These routes have no access rule: ${routes}. Set config.access of each.`;
const unverified = (routes: string): string => `This server verifies no tokens, which these routes require: ${routes}.`;
const changed = (routes: string): string =>
  `The token check of these routes doesn't match their config.access: ${routes}. A hook changed them too late.`;

describe("a server doesn't start", () => {
  for (const [what, routes, message] of [
    ["with a route that states nothing", (server) => server.get("/a", () => ({})), unstated("GET /a, HEAD /a")],
    [
      "with a route that states something else",
      (server) => server.post("/a", { config: { bodyMayBeOmitted: true } }, () => ({})),
      unstated("POST /a"),
    ],
    [
      "with several, and names them all, and none that is fine",
      (server) => {
        server.get("/fine", anyone, () => ({}));
        server.put("/a", () => ({}));
        server.delete("/b/:id", () => ({}));
        server.post("/fine", operators, () => ({}));
      },
      unstated("PUT /a, DELETE /b/:id"),
    ],
    ["with such a HEAD route", (server) => server.head("/a", () => ({})), unstated("HEAD /a")],
    ["with such an OPTIONS route", (server) => server.options("*", () => ({})), unstated("OPTIONS *")],
    [
      "with such a route for several methods",
      (server) => server.route({ method: ["PUT", "PATCH"], url: "/a", handler: () => ({}) }),
      unstated("PUT /a, PATCH /a"),
    ],
    [
      "with such a route in a child scope",
      (server) =>
        server.register(
          async (scope) => scope.register(async (inner) => inner.post("/c", () => ({})), { prefix: "/b" }),
          {
            prefix: "/a",
          },
        ),
      unstated("POST /a/b/c"),
    ],
    [
      "with a plugin whose routes state nothing, though those of a scope beside it do",
      async (server) => {
        await server.register(async (scope) => {
          allowAnyone(scope);
          scope.post("/open", () => ({}));
        });
        await server.register((scope, _options, done) => {
          scope.post("/of-a-plugin", () => ({}));
          done();
        });
      },
      unstated("POST /of-a-plugin"),
    ],
    [
      "with a route that a hook of its scope closes too late for it to be checked",
      (server) =>
        server.register(async (scope) => {
          scope.addHook("onRoute", (route) => {
            route.config = { ...route.config, ...operators.config };
          });
          scope.post("/late", () => ({}));
          scope.post("/late/too", anyone, () => ({}));
        }),
      changed("POST /late, POST /late/too"),
    ],
    [
      "with a route that a hook of its scope opens, though it asks for a token",
      (server) =>
        server.register(async (scope) => {
          allowAnyone(scope);
          scope.post("/opened", operators, () => ({}));
        }),
      changed("POST /opened"),
    ],
    [
      "with a route that has lost its check to a hook of its scope",
      (server) =>
        server.register(async (scope) => {
          scope.addHook("onRoute", (route) => {
            route.onRequest = (_request, _reply, next) => next();
          });
          scope.post("/lost", operators, () => ({}));
        }),
      changed("POST /lost"),
    ],
  ] as [string, (server: FastifyInstance) => unknown, string][]) {
    test(what, async (t) => {
      await assert.rejects(startTestServer(cleanUpAfter(t), { closed: true, routes }), { message });
    });
  }
});

test("a server without a token verifier doesn't start with a route that requires a token", async (t) => {
  const routes = (server: FastifyInstance): unknown => server.post("/a", operators, () => ({}));
  await assert.rejects(startTestServer(cleanUpAfter(t), { closed: true, access: undefined, routes }), {
    message: unverified("POST /a"),
  });
});

test("the server lists every route with its access rule, its own routes included", async (t) => {
  const { server } = await startTestServer(cleanUpAfter(t), {
    closed: true,
    routes: async (root) => {
      root.get("/a", anyone, () => ({}));
      await root.register(
        async (scope) => {
          scope.get("/things", operators, () => ({}));
          scope.route({ method: ["PUT", "PATCH"], url: "/:id", ...operators, handler: () => ({}) });
          await scope.register(async (inner) => {
            allowAnyone(inner);
            inner.post("/of-a-library", () => ({}));
          });
        },
        { prefix: "/b" },
      );
    },
  });
  const listed = server.routesAndAccess.map(({ method, url, access }) => `${method} ${url} ${String(access)}`);
  assert.deepEqual(listed.toSorted(), [
    "GET / anyone",
    "GET /a anyone",
    "GET /api/v1 anyone",
    "GET /b/things operator",
    "GET /health anyone",
    "GET /health/live anyone",
    "GET /health/ready anyone",
    "GET /metrics anyone",
    "GET /problems anyone",
    "GET /problems/:code anyone",
    "HEAD / anyone",
    "HEAD /a anyone",
    "HEAD /api/v1 anyone",
    "HEAD /b/things operator",
    "HEAD /health anyone",
    "HEAD /health/live anyone",
    "HEAD /health/ready anyone",
    "HEAD /metrics anyone",
    "HEAD /problems anyone",
    "HEAD /problems/:code anyone",
    "PATCH /b/:id operator",
    "POST /b/of-a-library anyone",
    "PUT /b/:id operator",
  ]);
});
