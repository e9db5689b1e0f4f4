import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { type RunningWeb, startWeb } from "@ehr-marketplace/tests/support/web";

const maxFirstLoadBytes = 250_000;

describe("the console's page", () => {
  const cleanUp = cleanUpAfter();
  let web: RunningWeb;
  before(async () => {
    web = await startWeb(cleanUp, { environment: { SUPPORT_URL: "https://help.example/?a=1&b=2" } });
  });

  const open = (path: string) => fetch(`${web.url}${path}`, { headers: { accept: "text/html" } });
  const nonceOf = (response: Response): string =>
    /'nonce-([A-Za-z0-9+/=]+)'/.exec(response.headers.get("content-security-policy") ?? "")?.[1] ?? "";

  test("is served at each of its paths without a session, is never stored, and sets no cookie", async () => {
    for (const path of ["/console", "/practice/riverside-clinic/subscriptions?open=x", "/console/nowhere"]) {
      const response = await open(path);
      assert.deepEqual(
        [response.status, response.headers.get("cache-control"), response.headers.getSetCookie()],
        [200, "no-store", []],
        path,
      );
    }
  });

  test("admits styles by a nonce that is new for each response, and no inline or evaluated code", async () => {
    const [first, second] = await Promise.all([open("/console"), open("/console")]);
    const [one, other] = [nonceOf(first), nonceOf(second)];
    assert.ok(one.length >= 22 && one !== other);
    assert.ok((await first.text()).includes(`<meta property="csp-nonce" nonce="${one}">`));
    const policy = first.headers.get("content-security-policy") ?? "";
    assert.doesNotMatch(policy, /unsafe-|\*|data:/);
    assert.match(policy, /script-src 'self';/);
    assert.match(policy, /frame-ancestors 'none'/);
  });

  test("tells the console where the operator's help is", async () => {
    assert.match(
      await (await open("/console")).text(),
      /<link rel="help" href="https:\/\/help\.example\/\?a=1&amp;b=2">/,
    );
  });

  test("says what to do if the console can't be loaded, such as in the middle of an upgrade", async () => {
    assert.match(await (await open("/console")).text(), /If nothing appears: <a href="">Load it anew<\/a>/);
  });

  test("has no inline script or style, and nothing of the requested path", async () => {
    const html = await (await open("/console/%3Cscript%3Ealert(1)%3C/script%3E")).text();
    assert.doesNotMatch(html, /<style|style=|alert|<script(?![^>]* src=)/);
  });

  test(`loads at most ${maxFirstLoadBytes / 1_000} kB of scripts and styles before the overview is shown, compressed`, async () => {
    const html = await (await open("/console")).text();
    const urls = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+\.(?:js|css))"/g)].map(([, url = ""]) => url);
    const manifestFile = new URL("../../dist/console/manifest.json", import.meta.url);
    const manifest = JSON.parse(await readFile(manifestFile, "utf8")) as Record<string, { file: string }>;
    const overview = Object.entries(manifest).find(([name]) => name.endsWith("overview-page.tsx"))?.[1].file;
    const sizes = await Promise.all(
      [...urls, `/${overview}`].map(async (url) => {
        const response = await fetch(`${web.url}${url}`, { headers: { "accept-encoding": "gzip" } });
        assert.equal(response.status, 200, url);
        return Number(response.headers.get("content-length"));
      }),
    );
    const total = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(sizes.length >= 4 && total > 0 && total <= maxFirstLoadBytes, `${total} bytes: ${urls.join(" ")}`);
  });
});
