import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { freePort } from "../free-port.ts";
import { type DemoAppServer, startDemoApp } from "./start-demo-app.ts";

const issuer = "http://127.0.0.1:49154";

describe("the demo app", () => {
  const cleanUp = cleanUpAfter();
  let app: DemoAppServer;
  before(async () => {
    app = await startDemoApp(await freePort(), issuer);
    cleanUp(() => app.stop());
  });
  const get = (path: string): Promise<Response> => fetch(`${app.url}${path}`);

  test("has pages that load only its own files and talk only to the identity provider", async () => {
    for (const path of ["/", "/launch?iss=x&launch=y"]) {
      const response = await get(path);
      assert.equal(response.status, 200);
      assert.equal(
        response.headers.get("content-security-policy"),
        `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src ${issuer}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      );
      assert.equal(response.headers.get("referrer-policy"), "no-referrer");
      assert.equal(response.headers.get("cache-control"), "no-store");
      const html = await response.text();
      assert.doesNotMatch(html, /\{\{/);
      const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file ?? "");
      assert.ok(files.length >= 4);
      for (const file of files) assert.equal((await get(file)).status, 200, file);
    }
  });

  test("serves the library that vendors use", async () => {
    const response = await get("/fhir-client.js");
    assert.match(response.headers.get("content-type") ?? "", /^text\/javascript/);
    assert.match(await response.text(), /code_challenge_method=S256/);
  });

  test("serves no other files, and accepts only GET", async () => {
    assert.equal((await get("/page.html")).status, 404);
    assert.equal((await get("/../start-demo-app.ts")).status, 404);
    assert.equal((await fetch(app.url, { method: "POST", body: "x" })).status, 405);
  });
});
