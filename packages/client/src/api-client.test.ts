import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createApiClient } from "./api-client.ts";
import { ApiError } from "./api-error.ts";
import type { Operations } from "./marketplace-types.ts";

/** A client whose requests are recorded, and get the given response. */
function createRecorder(respond: () => Response | Promise<Response>) {
  const requests: Request[] = [];
  const api = createApiClient<Operations>({
    baseUrl: "https://web.example/bff/marketplace",
    headers: { "x-requested-with": "ehr-marketplace" },
    fetch: async (request) => {
      requests.push(request);
      return respond();
    },
  });
  return { api, requests };
}

const json = (body: unknown, status = 200): Response =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json; charset=utf-8" } });

describe("the API client", () => {
  test("builds the request of an operation from its parts", async () => {
    const { api, requests } = createRecorder(() => json({ id: "one" }));
    const body = { appSlug: "northwind-scribe", orgAlias: "riverside-clinic", pricingPlanId: "a" };
    await api("POST /subscriptions", { body, headers: { "idempotency-key": "key" } });
    const [request] = requests;
    assert.equal(request?.method, "POST");
    assert.equal(request.url, "https://web.example/bff/marketplace/subscriptions");
    assert.equal(request.headers.get("idempotency-key"), "key");
    assert.equal(request.headers.get("x-requested-with"), "ehr-marketplace");
    assert.deepEqual(await request.json(), body);
  });

  test("escapes parameters of the path, and leaves out those of the query that are undefined", async () => {
    const { api, requests } = createRecorder(() => json([]));
    await api("GET /apps/{slug}", { path: { slug: "a/b" } });
    await api("GET /subscriptions", { query: { orgAlias: "a&b", status: "active" } });
    assert.deepEqual(
      requests.map(({ url }) => url.slice("https://web.example/bff/marketplace".length)),
      ["/apps/a%2Fb", "/subscriptions?orgAlias=a%26b&status=active"],
    );
  });

  for (const slug of ["", ".", ".."]) {
    test(`sends nothing if a parameter of the path is ${JSON.stringify(slug)}, which leads to another path`, async () => {
      const { api, requests } = createRecorder(() => json([]));
      await assert.rejects(api("GET /apps/{slug}/pricing", { path: { slug } }), TypeError);
      assert.equal(requests.length, 0);
    });
  }

  test("rejects with what the problem document says", async () => {
    const { api } = createRecorder(() => json({ code: "app-not-found", detail: "No such app.", instance: "id" }, 404));
    await assert.rejects(
      api("GET /apps/{slug}", { path: { slug: "none" } }),
      (error) => error instanceof ApiError && error.status === 404 && error.code === "app-not-found",
    );
  });

  test("rejects as unreachable if there is no response", async () => {
    const { api } = createRecorder(() => Promise.reject(new TypeError("failed to fetch")));
    await assert.rejects(
      api("GET /apps/categories"),
      (error) => error instanceof ApiError && error.status === 0 && error.code === "unreachable",
    );
  });
});
