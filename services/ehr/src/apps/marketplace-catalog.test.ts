import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { before, describe, test } from "node:test";
import { type CleanUp, cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { startMarketplace } from "@ehr-marketplace/tests/support";
import { createMarketplaceCatalog, type MarketplaceCatalog } from "./marketplace-catalog.ts";
import { createAppParser } from "./parse-app.ts";

const app = {
  id: "01890a5d-ac96-774b-bcce-b302099a8057",
  slug: "scribe",
  name: "Scribe",
  iconUrl: "https://icons.example/scribe.svg",
  category: "DOCUMENTATION",
  extensionPoints: ["note-panel"],
  smartLaunchUrl: null,
  fhirScopes: "launch",
};

const readApp = createAppParser({ allowsHttp: true });

describe("reading the marketplace's catalog", () => {
  const cleanUp = cleanUpAfter();
  let url: string;
  let catalog: MarketplaceCatalog;
  before(async () => {
    ({ url } = await startMarketplace(cleanUp, (await cloneDatabase(cleanUp, "demo")).serviceUrl));
    catalog = createMarketplaceCatalog(`${url}/api/v1`, { parseApp: readApp });
  });

  test("returns an app with its eight fields, schema and ETag, and unchanged for that ETag", async () => {
    const result = await catalog.fetchApp("northwind-scribe", null);
    assert.ok(result.kind === "found");
    const { found } = result;
    assert.deepEqual(Object.keys(found.app).toSorted(), Object.keys(app).toSorted());
    assert.equal(found.app.slug, "northwind-scribe");
    assert.match(found.schema.text ?? "", /"apiKey"/);
    assert.deepEqual(found.schema.secrets, ["/apiKey"]);
    assert.deepEqual(await catalog.fetchApp("northwind-scribe", found.etag), { kind: "unchanged" });
    assert.equal((await catalog.fetchApp("northwind-scribe", '"another"')).kind, "found");
  });

  test("returns an app without a schema, and absent for an unknown app", async () => {
    const result = await catalog.fetchApp("pocket-phrasebook", null);
    assert.deepEqual(result.kind === "found" && result.found.schema, { text: null, problem: null, secrets: null });
    assert.deepEqual(await catalog.fetchApp("no-such-app", null), { kind: "absent" });
  });

  test("rejects the 404 of a URL without the API's version, and names MARKETPLACE_URL", async () => {
    for (const wrong of [url, `${url}/api`, `${url}/api/v1/apps`]) {
      const misconfigured = createMarketplaceCatalog(wrong, { parseApp: readApp });
      await assert.rejects(misconfigured.fetchApp("northwind-scribe", null), /404.*check MARKETPLACE_URL/, wrong);
    }
  });
});

describe("invalid responses of the catalog", () => {
  const cleanUp = cleanUpAfter();
  const json = { "content-type": "application/json" };
  const refused = async (
    handler: RequestListener,
    why: RegExp | string,
    limit: { timeoutMs?: number } = {},
  ): Promise<void> => {
    const catalog = createMarketplaceCatalog(await serving(cleanUp, handler), { parseApp: readApp, ...limit });
    await assert.rejects(catalog.fetchApp("scribe", null), (error: Error) => {
      assert.match(`${error.name} ${error.message}`, new RegExp(why));
      return true;
    });
  };
  const respondWith =
    (body: unknown, headers: Record<string, string> = json): RequestListener =>
    (_request, response) =>
      void response.writeHead(200, headers).end(typeof body === "string" ? body : JSON.stringify(body));

  test("unknown fields are left out", async () => {
    const catalog = createMarketplaceCatalog(await serving(cleanUp, respondWith({ ...app, more: { a: 1 } })), {
      parseApp: readApp,
    });
    const result = await catalog.fetchApp("scribe", null);
    assert.deepEqual(result.kind === "found" && result.found.app, app);
  });
  test("a redirect is not followed", async () => {
    let followed = 0;
    const elsewhere = await serving(cleanUp, (_request, response) => {
      followed += 1;
      response.end();
    });
    await refused((_request, response) => void response.writeHead(302, { location: elsewhere }).end(), "TypeError");
    assert.equal(followed, 0);
  });
  test("more than 1 MiB is not read", () => refused(respondWith({ ...app, more: "x".repeat(1_048_576) }), "more than"));
  test("an endless body is not read beyond 1 MiB", () =>
    refused((_request, response) => {
      response.writeHead(200, json);
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
        response.once("drain", more);
      };
      more();
    }, "more than"));
  test("a request without a response times out", () => refused(() => undefined, "TimeoutError", { timeoutMs: 100 }));
  test("a response that stops in the middle times out", () =>
    refused((_request, response) => void response.writeHead(200, json).write("{"), "TimeoutError", { timeoutMs: 100 }));
  test("another content type is rejected", () =>
    refused(respondWith(app, { "content-type": "text/html" }), "not JSON"));
  test("invalid JSON is rejected", () => refused(respondWith("{"), "not JSON"));
  test("an invalid app is rejected", () => refused(respondWith({ ...app, name: 1 }), "not a valid app: /name"));
  test("an app with a URL that browsers must not open is rejected", () =>
    refused(respondWith({ ...app, smartLaunchUrl: "javascript:alert(1)" }), "not a valid app: /smartLaunchUrl"));
  test("another app is rejected", () => refused(respondWith({ ...app, slug: "other" }), "another app"));
  test("an error response is rejected", () =>
    refused((_request, response) => void response.writeHead(500).end("boom"), "responded with 500"));
  test("a 404 that isn't the marketplace's for an unknown app is rejected", async () => {
    for (const body of ["", "<h1>Not Found</h1>", "null", '"app-not-found"', '{"code":"not-found"}']) {
      await refused((_request, response) => void response.writeHead(404, json).end(body), "check MARKETPLACE_URL");
    }
  });
  test("a 304 to an unconditional request is rejected", () =>
    refused((_request, response) => void response.writeHead(304).end(), "responded with 304"));
  test("a closed connection is an error", () => refused((request) => void request.destroy(), "TypeError"));
});

async function serving(cleanUp: CleanUp, handler: RequestListener): Promise<string> {
  const server = createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
