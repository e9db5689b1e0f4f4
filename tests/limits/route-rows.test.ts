import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { fetchCallers } from "@ehr-marketplace/tests/support/callers";
import { ehrPublicRoutes } from "../access/ehr-public-routes.ts";
import { publicRoutes } from "../access/public-routes.ts";
import { startBothServices } from "../access/start-both-services.ts";
import { assertNearMisses, type Schema } from "./hostile-inputs.ts";
import { isHead, routeOf, type ServedRoute } from "./hostile-requests.ts";
import { ehrRows, marketplaceRows, workerRoutes } from "./route-rows.ts";

const without = (all: string[], known: string[]): string[] => all.filter((route) => !known.includes(route));

function assertEveryRouteHasARow(served: readonly ServedRoute[], ...rows: Iterable<string>[]): void {
  const routes = served.map(routeOf).filter((route) => !isHead(route));
  const known = rows.flatMap((each) => [...each]).filter((route) => !isHead(route));
  const message = "tests/limits/route-rows.ts has each route with a token, tests/access/*public-routes.ts the others";
  assert.deepEqual([without(routes, known), without(known, routes)], [[], []], message);
}

describe("the rows of tests that call every route", () => {
  const cleanUp = cleanUpAfter();
  const served: Record<"marketplace" | "ehr", readonly ServedRoute[]> = { marketplace: [], ehr: [] };
  before(async () => {
    const environment = { ALLOWED_ORIGINS: "https://console.example" };
    const { marketplace, ehr } = await startBothServices(cleanUp, await fetchCallers(), environment);
    [served.marketplace, served.ehr] = [marketplace.server.routesAndAccess, ehr.server.routesAndAccess];
  });

  test("are all routes of the marketplace", () =>
    assertEveryRouteHasARow(served.marketplace, Object.keys(marketplaceRows), publicRoutes.keys()));

  test("are all routes of the EHR", () =>
    assertEveryRouteHasARow(served.ehr, Object.keys(ehrRows), ehrPublicRoutes.keys()));

  test("have hostile texts for each pattern and format of their requests", () => {
    for (const { schema = {} } of [...served.marketplace, ...served.ehr]) {
      const { params, querystring, headers, body } = schema;
      for (const part of [params, querystring, headers, body]) if (part !== undefined) assertNearMisses(part as Schema);
    }
  });

  test("are all routes of the worker", () => {
    const ofApi = /^\/(api|docs|media|notices|favicon)/;
    const common = served.marketplace.filter(({ method, url }) => method === "GET" && !ofApi.test(url));
    assert.deepEqual(
      common.map(({ url }) => url),
      workerRoutes,
    );
  });
});
