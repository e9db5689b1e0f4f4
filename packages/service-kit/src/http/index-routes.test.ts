import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { assertSecurityHeaders, startTestServer, type TestServer } from "./server.test-support.ts";

const html = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
const about = {
  title: "Things & <i>more</i>",
  description: "Serves <things>.",
  basePath: "/api/v1",
  links: [{ name: "things", href: "/api/v1/things", title: "Things", text: 'All "things"' }],
};

/** A page may apply only the style whose hash its policy has, and may load nothing. */
function assertStrictPage(response: Response, page: string): void {
  assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
  assertSecurityHeaders(response);
  const policy = String(response.headers.get("content-security-policy"));
  const [, style = ""] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
  assert.ok(style !== "" && policy.includes(`style-src 'sha256-${hash("sha256", style, "base64")}';`), policy);
  assert.doesNotMatch(policy, /unsafe|script-src/);
  assert.doesNotMatch(page, /<script|\son\w+=|style=|(?:src|href)="(?:https?:)?\/\//);
}

describe("the index of a service", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  before(async () => {
    running = await startTestServer(cleanUp, { about });
  });

  for (const path of ["/", "/api/v1"]) {
    test(`${path} is a page for a browser, with links to what the service has`, async () => {
      const response = await fetch(`${running.url}${path}`, { headers: html });
      const page = await response.text();
      assert.equal(response.status, 200);
      assertStrictPage(response, page);
      assert.ok(
        page.includes("<h1>Things &amp; &lt;i&gt;more&lt;/i&gt;</h1>") && page.includes("Serves &lt;things&gt;."),
      );
      assert.deepEqual(
        [...page.matchAll(/<a href="([^"]+)"/g)].map(([, href]) => href),
        ["/docs", "/api/v1/openapi.json", "/api/v1/things", "/health"],
      );
    });

    test(`${path} is JSON with the same links for other clients`, async () => {
      for (const accept of ["*/*", "application/json", "application/json, text/plain, */*"]) {
        const response = await fetch(`${running.url}${path}`, { headers: { accept } });
        assert.equal(response.headers.get("content-type"), "application/json; charset=utf-8");
        assert.equal(response.headers.get("vary"), "accept");
        assertSecurityHeaders(response);
        assert.deepEqual(await response.json(), {
          title: about.title,
          description: about.description,
          links: { reference: "/docs", openapi: "/api/v1/openapi.json", things: "/api/v1/things", health: "/health" },
        });
      }
    });
  }

  test("a service wraps the JSON as its other responses", async (t) => {
    const wrap = (index: object): object => ({ success: true, data: index });
    const { url } = await startTestServer(cleanUpAfter(t), { about: { ...about, wrap } });
    const { success, data } = (await (await fetch(url)).json()) as { success: boolean; data: { title: string } };
    assert.deepEqual([success, data.title], [true, about.title]);
  });

  test("a process without an API has its index at / only, without a reference", async (t) => {
    const worker = { title: "Worker", description: "Works.", links: [] };
    const { url } = await startTestServer(cleanUpAfter(t), { about: worker });
    assert.deepEqual(await (await fetch(url)).json(), {
      title: "Worker",
      description: "Works.",
      links: { health: "/health" },
    });
    assert.equal((await fetch(`${url}/api/v1`)).status, 404);
  });
});

const links = { ready: "/health/ready", live: "/health/live", metrics: "/metrics" };

test("/health is a page for a browser, and JSON with the same links for other clients", async (t) => {
  const { url } = await startTestServer(cleanUpAfter(t));
  const response = await fetch(`${url}/health`, { headers: html });
  const page = await response.text();
  assert.equal(response.status, 200);
  assertStrictPage(response, page);
  for (const href of [...Object.values(links), "/"]) assert.ok(page.includes(`href="${href}"`), href);
  const forClients = await fetch(`${url}/health`);
  assert.deepEqual(await forClients.json(), { status: "ready", links });
  for (const { headers } of [response, forClients]) assert.equal(headers.get("cache-control"), "no-store");
});

test("/health is 503 with the reason while the process isn't ready, for browsers and other clients", async (t) => {
  const reason = "migrations-missing";
  const { url, logged } = await startTestServer(cleanUpAfter(t), { readiness: () => Promise.resolve(reason) });
  const response = await fetch(`${url}/health`, { headers: html });
  const page = await response.text();
  assert.equal(response.status, 503);
  assertStrictPage(response, page);
  assert.ok(page.includes(`The reason: ${reason}.`));
  const { detail } = await assertProblem(await fetch(`${url}/health`), 503, "unavailable");
  assert.equal(detail, `Not ready: ${reason}.`);
  const errors = logged.filter(({ level }) => level === "error");
  assert.deepEqual(errors, [], "the readiness check logs the reason itself");
});
