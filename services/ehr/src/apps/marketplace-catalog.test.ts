import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { before, describe, test } from "node:test";
import { type CleanUp, cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import { MarketplaceRefusalError } from "../reconciliation/reconciliation-errors.ts";
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
    assert.match(found.cdsServicesUrl ?? "", /^https:.*\/cds-services$/);
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

describe("sandbox apps", () => {
  const cleanUp = cleanUpAfter();
  const json = { "content-type": "application/json" };
  const slug = "sandbox-scribe";
  /** Tokens are the alias and a number. The marketplace responds with the status for the token, 200 with the app. */
  const startSandbox = async (statuses: Record<string, number>) => {
    const used: (string | undefined)[] = [];
    const url = await serving(cleanUp, (request, response) => {
      const token = request.headers.authorization?.replace("Bearer ", "");
      used.push(`${request.url} ${token}`);
      const status = statuses[token ?? ""] ?? 404;
      const body = status === 200 ? { ...app, slug } : { code: "sandbox-app-not-found" };
      response.writeHead(status, json).end(JSON.stringify(body));
    });
    let generation = 1;
    const tokens = {
      get: async (alias: string) => {
        if (alias === "unknown") throw new MarketplaceRefusalError("no token");
        if (alias === "failing") throw new Error("no identity provider");
        return alias === "shared" || alias === "shared-too" ? "shared" : `${alias}-${generation}`;
      },
      invalidate: () => {
        generation += 1;
      },
    };
    const fetchFor = (...subscribers: string[]) =>
      createMarketplaceCatalog(url, {
        parseApp: readApp,
        sandbox: { tokens, findSubscribers: async () => subscribers },
      }).fetchApp(slug, null);
    return { used, fetchFor };
  };

  test("are read with the first token that the marketplace accepts", async () => {
    const { used, fetchFor } = await startSandbox({ "a-1": 404, "b-1": 403, "c-1": 200 });
    assert.equal((await fetchFor("a", "unknown", "b", "c", "failing")).kind, "found");
    assert.deepEqual(
      used,
      ["a-1", "b-1", "c-1"].map((token) => `/sandbox-apps/${slug} ${token}`),
    );
  });

  test("are absent only if the marketplace says so for every organisation", async () => {
    const { fetchFor } = await startSandbox({ "a-1": 404, "b-1": 403, "d-1": 503 });
    assert.deepEqual(await fetchFor(), { kind: "absent" });
    assert.deepEqual(await fetchFor("a"), { kind: "absent" });
    await assert.rejects(fetchFor("a", "b"), /responded with 403/);
    await assert.rejects(fetchFor("unknown", "a"), MarketplaceRefusalError);
    await assert.rejects(fetchFor("d", "a"), /responded with 503/);
    await assert.rejects(fetchFor("failing", "a"), /no identity provider/);
  });

  test("are requested once with a token that several organisations share", async () => {
    const { used, fetchFor } = await startSandbox({});
    await fetchFor("shared", "shared-too");
    assert.equal(used.length, 1);
  });

  test("are requested again with a new token if the token is refused", async () => {
    const { used, fetchFor } = await startSandbox({ "a-1": 401, "a-2": 200, "b-2": 401, "b-3": 401 });
    assert.equal((await fetchFor("a")).kind, "found");
    await assert.rejects(fetchFor("b"), /responded with 401/);
    assert.equal(used.length, 4);
  });

  test("are absent without credentials", async () => {
    const { used } = await startSandbox({});
    const catalog = createMarketplaceCatalog("http://127.0.0.1:9", { parseApp: readApp });
    assert.deepEqual(await catalog.fetchApp(slug, null), { kind: "absent" });
    assert.deepEqual(used, []);
  });
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
