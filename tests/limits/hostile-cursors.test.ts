import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { encodeCursor } from "@ehr-marketplace/service-kit/http";
import { cleanUpAfter, rounds } from "@ehr-marketplace/test-kit";
import { type Callers, fetchCallers } from "@ehr-marketplace/tests/support/callers";
import fc from "fast-check";
import type { FastifyInstance } from "fastify";
import { prepareEhr } from "../access/prepare-ehr.ts";
import { prepareMarketplace } from "../access/prepare-marketplace.ts";
import { publicRoutes } from "../access/public-routes.ts";
import { startBothServices } from "../access/start-both-services.ts";
import type { Schema } from "./hostile-inputs.ts";
import { ehrRows, marketplaceRows } from "./route-rows.ts";

interface List {
  route: string;
  path: string;
  headers: Record<string, string>;
}

const encoded = (text: string): string => Buffer.from(text).toString("base64url");

const time = fc.oneof(
  fc
    .date({ min: new Date("2000-01-01"), max: new Date("2100-01-01"), noInvalidDate: true })
    .map((date) => date.toISOString()),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom("0000-01-01T00:00:00.000Z", "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"),
  fc.constantFrom("-271821-04-20T00:00:00.000Z", "2026-02-30T00:00:00.000Z", "infinity", "now", "2026-01-01", ""),
);
const id = fc.oneof(
  fc.uuid(),
  fc.uuid().map((uuid) => uuid.toUpperCase()),
  fc.uuid().map((uuid) => `{${uuid}}`),
  fc.constantFrom("00000000-0000-0000-0000-000000000000", "urn:uuid:01890a5d-ac96-774b-bcce-b302099a8057", ""),
);
const part = fc.oneof(
  time,
  id,
  fc.string({ unit: "binary", maxLength: 10 }),
  fc.constantFrom("riverside-clinic", "\ud800"),
);
const cursor = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(time, id).map((parts) => encodeCursor(...parts)) },
  { weight: 2, arbitrary: fc.array(part, { maxLength: 3 }).map((parts) => encodeCursor(...parts)) },
  { weight: 1, arbitrary: fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/).map((alias) => encodeCursor(alias)) },
  // The cursor of `GET /subscriptions` is the id of a subscription.
  { weight: 1, arbitrary: id.filter((text) => text !== "") },
  { weight: 1, arbitrary: fc.json({ maxDepth: 2 }).map(encoded) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", minLength: 1 }) },
  {
    weight: 2,
    arbitrary: fc.tuple(time, id, fc.nat(), fc.string({ maxLength: 2 })).map(([at, uuid, nth, other]) => {
      const whole = encodeCursor(at, uuid);
      return whole.slice(0, nth % whole.length) + other + whole.slice((nth % whole.length) + 1);
    }),
  },
);

describe("a list responds to any cursor with a page or 400", () => {
  const cleanUp = cleanUpAfter();
  let callers: Callers;
  const servers: Partial<Record<"marketplace" | "ehr", FastifyInstance>> = {};
  const urls = { marketplace: "", ehr: "" };
  before(async () => {
    callers = await fetchCallers();
    const { marketplace, ehr } = await startBothServices(cleanUp, callers);
    [urls.marketplace, urls.ehr] = [marketplace.url, ehr.url];
    [servers.marketplace, servers.ehr] = [marketplace.server, ehr.server];
  });

  const serverOf = (service: keyof typeof urls): FastifyInstance => servers[service] ?? assert.fail("not started");

  /** Every route whose query has a cursor. */
  async function listsOf(
    service: keyof typeof urls,
    find: (route: string) => Promise<{ path: string; headers?: Record<string, string> }>,
  ): Promise<List[]> {
    const lists: List[] = [];
    for (const { method, url, schema } of serverOf(service).routesAndAccess) {
      const { properties = {} } = (schema?.querystring ?? {}) as Schema;
      if (method !== "GET" || !("after" in properties)) continue;
      const route = `GET ${url}`;
      const { path, headers = {} } = await find(route);
      lists.push({ route, path, headers });
    }
    return lists;
  }

  async function assertPagesOr400(service: keyof typeof urls, lists: List[]): Promise<void> {
    const server = serverOf(service);
    const authorization = `Bearer ${callers.token("operator")}`;
    const counts = { 200: 0, 400: 0 };
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...lists), cursor, async ({ route, path, headers }, after) => {
        const response = await server.inject({
          url: `${path}${path.includes("?") ? "&" : "?"}after=${encodeURIComponent(after.toWellFormed())}`,
          headers: { "x-vendor-slug": "northwind-health", ...headers, authorization },
        });
        const { statusCode, body } = response;
        assert.ok(statusCode === 200 || statusCode === 400, `${route}: ${statusCode} ${body}`);
        if (statusCode === 400) assert.match(body, after.includes("\0") ? /\/query/ : /\/query\/after/);
        counts[statusCode] += 1;
      }),
      { numRuns: rounds(500, 10_000) },
    );
    assert.ok(counts[200] > 20 && counts[400] > 20, JSON.stringify(counts));
  }

  test("in every list of the marketplace", async () => {
    const operator = callers.token("operator");
    const prepared = await prepareMarketplace(urls.marketplace, operator, callers.token("northwind-developer"));
    const lists = await listsOf(
      "marketplace",
      async (route) => publicRoutes.get(route) ?? prepared.buildRequest(route, marketplaceRows[route] ?? ""),
    );
    assert.ok(lists.length > 6, `${lists.length} lists`);
    await assertPagesOr400("marketplace", lists);
  });

  test("in every list of the EHR", async () => {
    const prepared = await prepareEhr(urls, callers);
    const lists = await listsOf("ehr", (route) => prepared.buildRequest(route, ehrRows[route] ?? ""));
    assert.ok(lists.length > 1, `${lists.length} lists`);
    await assertPagesOr400("ehr", lists);
  });
});
