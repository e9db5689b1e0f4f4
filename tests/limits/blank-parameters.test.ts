import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { type Callers, fetchCallers, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import { prepareEhr } from "../access/prepare-ehr.ts";
import { prepareMarketplace } from "../access/prepare-marketplace.ts";
import { publicRoutes } from "../access/public-routes.ts";
import { startBothServices } from "../access/start-both-services.ts";
import type { Schema } from "./hostile-inputs.ts";
import type { ServedRoute } from "./hostile-requests.ts";
import { ehrRows, marketplaceRows } from "./route-rows.ts";

describe("a query parameter without a value counts as absent", () => {
  const cleanUp = cleanUpAfter();
  let callers: Callers;
  let token: string;
  const urls = { marketplace: "", ehr: "" };
  const served: Record<keyof typeof urls, readonly ServedRoute[]> = { marketplace: [], ehr: [] };
  before(async () => {
    callers = await fetchCallers();
    token = await signToken(callers, { roles: ["operator", "launch-redeemer"] });
    const { marketplace, ehr } = await startBothServices(cleanUp, callers);
    [urls.marketplace, urls.ehr] = [marketplace.url, ehr.url];
    [served.marketplace, served.ehr] = [marketplace.server.routesAndAccess, ehr.server.routesAndAccess];
  });

  const get = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
    sendRequest(url, token, { headers: { "x-vendor-slug": "northwind-health", ...headers } });

  /** Checks that blank optional parameters equal absent ones, and that a blank required or a repeated parameter gets 400. */
  async function assertBlankIsAbsent(url: string, { querystring }: { querystring?: unknown }, headers = {}) {
    const { properties = {}, required = [] } = querystring as Schema;
    const given = new URL(url).searchParams;
    const optional = Object.keys(properties).filter((name) => !required.includes(name) && !given.has(name));
    const separator = given.size > 0 ? "&" : "?";
    const read = async (at: string): Promise<string> => {
      const response = await get(at, headers);
      return `${response.status} ${await response.text()}`;
    };
    for (const value of ["", "%20", "+%09"]) {
      const blank = `${url}${separator}${optional.map((name) => `${name}=${value}`).join("&")}`;
      // Jobs may change what is returned between the two requests.
      await eventually(`${blank} equals ${url}`, 20_000, async () => {
        const expected = await read(url);
        return expected.startsWith("200 ") && (await read(blank)) === expected;
      });
    }
    for (const name of optional) {
      assert.equal((await get(`${url}${separator}${name}=&${name}=`, headers)).status, 400, `${name} twice`);
    }
    for (const name of required) {
      assert.equal((await get(`${url.split("?")[0]}?${name}=`, headers)).status, 400, `${name} is required`);
    }
  }
  const withQuery = (service: keyof typeof urls): ServedRoute[] =>
    served[service].filter(({ method, schema }) => method === "GET" && schema?.querystring !== undefined);

  test("in every query of the marketplace", async () => {
    const operator = callers.token("operator");
    const prepared = await prepareMarketplace(urls.marketplace, operator, callers.token("northwind-developer"));
    const routes = withQuery("marketplace");
    assert.ok(routes.length > 8);
    for (const { url, schema = {} } of routes) {
      const route = `GET ${url}`;
      const open = publicRoutes.get(route);
      const { path } = open ?? (await prepared.buildRequest(route, marketplaceRows[route] ?? ""));
      // This response contains an age, which changes between requests.
      if (!url.endsWith("/webhooks/health")) await assertBlankIsAbsent(`${urls.marketplace}${path}`, schema);
    }
  });

  test("in every query of the EHR", async () => {
    const prepared = await prepareEhr(urls, callers);
    const routes = withQuery("ehr");
    assert.ok(routes.length > 0);
    for (const { url, schema = {} } of routes) {
      const { path, headers } = await prepared.buildRequest(`GET ${url}`, ehrRows[`GET ${url}`] ?? "");
      await assertBlankIsAbsent(`${urls.ehr}${path}`, schema, headers);
    }
  });
});
