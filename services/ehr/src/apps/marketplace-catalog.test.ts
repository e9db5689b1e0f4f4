import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { before, describe, test } from "node:test";
import { type CleanUp, cleanUpAfter, cloneDatabase, startMarketplace } from "@ehr-marketplace/tests/support";
import { createMarketplaceCatalog, type MarketplaceCatalog } from "./marketplace-catalog.ts";
import { createAppReader } from "./read-app.ts";

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

const readApp = createAppReader({ allowsHttp: true });

describe("the marketplace's catalog is read", () => {
  const cleanUp = cleanUpAfter();
  let catalog: MarketplaceCatalog;
  before(async () => {
    const { url } = await startMarketplace(cleanUp, (await cloneDatabase(cleanUp, "demo")).serviceUrl);
    catalog = createMarketplaceCatalog(`${url}/api/v1`, { readApp });
  });

  test("an app with its eight fields, its schema and an ETag; with that, only that nothing has changed", async () => {
    const answer = await catalog.fetchApp("northwind-scribe", null);
    assert.ok(answer.kind === "found");
    const { found } = answer;
    assert.deepEqual(Object.keys(found.app).toSorted(), Object.keys(app).toSorted());
    assert.equal(found.app.slug, "northwind-scribe");
    assert.match(found.schema.text ?? "", /"apiKey"/);
    assert.deepEqual(found.schema.secrets, ["/apiKey"]);
    assert.deepEqual(await catalog.fetchApp("northwind-scribe", found.etag), { kind: "unchanged" });
    assert.equal((await catalog.fetchApp("northwind-scribe", '"another"')).kind, "found");
  });

  test("an app without a schema, and one that isn't there", async () => {
    const answer = await catalog.fetchApp("pocket-phrasebook", null);
    assert.deepEqual(answer.kind === "found" && answer.found.schema, { text: null, problem: null, secrets: null });
    assert.deepEqual(await catalog.fetchApp("no-such-app", null), { kind: "absent" });
  });
});

describe("whatever it answers instead, it can't take long, grow large or lead elsewhere", () => {
  const cleanUp = cleanUpAfter();
  const json = { "content-type": "application/json" };
  const refused = async (
    handler: RequestListener,
    why: RegExp | string,
    limit: { timeoutMs?: number } = {},
  ): Promise<void> => {
    const catalog = createMarketplaceCatalog(await serving(cleanUp, handler), { readApp, ...limit });
    await assert.rejects(catalog.fetchApp("scribe", null), (error: Error) => {
      assert.match(`${error.name} ${error.message}`, new RegExp(why));
      return true;
    });
  };
  const answering =
    (body: unknown, headers: Record<string, string> = json): RequestListener =>
    (_request, response) =>
      void response.writeHead(200, headers).end(typeof body === "string" ? body : JSON.stringify(body));

  test("fields that it doesn't know are left out", async () => {
    const catalog = createMarketplaceCatalog(await serving(cleanUp, answering({ ...app, more: { a: 1 } })), {
      readApp,
    });
    const answer = await catalog.fetchApp("scribe", null);
    assert.deepEqual(answer.kind === "found" && answer.found.app, app);
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
  test("more than 1 MiB is not read", () => refused(answering({ ...app, more: "x".repeat(1_048_576) }), "more than"));
  test("not even where it never ends", () =>
    refused((_request, response) => {
      response.writeHead(200, json);
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
        response.once("drain", more);
      };
      more();
    }, "more than"));
  test("one that says nothing is given up", () => refused(() => undefined, "TimeoutError", { timeoutMs: 100 }));
  test("one that stops in the middle is given up", () =>
    refused((_request, response) => void response.writeHead(200, json).write("{"), "TimeoutError", { timeoutMs: 100 }));
  test("other than JSON", () => refused(answering(app, { "content-type": "text/html" }), "not JSON"));
  test("broken JSON", () => refused(answering("{"), "not JSON"));
  test("no app", () => refused(answering({ ...app, name: 1 }), "no app: /name"));
  test("an app that browsers must not be sent to", () =>
    refused(answering({ ...app, smartLaunchUrl: "javascript:alert(1)" }), "no app: /smartLaunchUrl"));
  test("another app", () => refused(answering({ ...app, slug: "other" }), "another app"));
  test("an error", () => refused((_request, response) => void response.writeHead(500).end("boom"), "answers 500"));
  test("unchanged, though nobody asked whether", () =>
    refused((_request, response) => void response.writeHead(304).end(), "answers 304"));
  test("nothing at all", () => refused((request) => void request.destroy(), "TypeError"));
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
