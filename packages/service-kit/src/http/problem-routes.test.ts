import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { assertSecurityHeaders, startTestServer, type TestServer } from "./server.test-support.ts";
import { standardProblems } from "./standard-problems.ts";

const own = {
  code: "too-old",
  status: 409,
  title: 'It is "too" old & <i>gone</i>',
  advice: "Send `{a: 1}` & <script>alert(1)</script>.",
};

describe("problem pages", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  before(async () => {
    running = await startTestServer(cleanUp, { problems: [own] });
  });

  const getPage = (path: string): Promise<Response> =>
    fetch(running.url + path, { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } });

  test("clients other than browsers get the kind as JSON, at /problems all of them; pages of any origin too", async () => {
    for (const accept of ["*/*", "application/json"]) {
      for (const [path, expected] of [
        ["/problems", [...Object.values(standardProblems), own]],
        ["/problems/too-old", own],
      ] as const) {
        const response = await fetch(running.url + path, { headers: { accept, origin: "https://a.example" } });
        assert.equal(response.headers.get("content-type"), "application/json; charset=utf-8");
        assert.equal(response.headers.get("access-control-allow-origin"), "*");
        assert.equal(response.headers.get("vary"), "accept");
        assertSecurityHeaders(response);
        assert.deepEqual(await response.json(), expected);
      }
    }
  });

  for (const { code, status, title } of Object.values(standardProblems)) {
    test(`/problems/${code} says its status, its title and what to do`, async () => {
      const response = await getPage(`/problems/${code}`);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
      assertSecurityHeaders(response);
      const page = await response.text();
      for (const expected of [code, String(status), `<h1>${title}</h1>`]) assert.ok(page.includes(expected), expected);
      assert.match(page, /<p>[A-Z][^<]{5,}/);
    });
  }

  test("/problems lists and links every standard problem and those of the service", async () => {
    const page = await (await getPage("/problems")).text();
    for (const { code } of Object.values(standardProblems)) assert.ok(page.includes(`href="/problems/${code}"`), code);
    assert.equal(page.match(/<dt>/g)?.length, Object.keys(standardProblems).length + 1);
  });

  test("each standard problem has a code and a status of the contract", () => {
    const known = new Set([400, 401, 403, 404, 405, 408, 409, 410, 413, 414, 415, 422, 428, 429, 431, 500, 503]);
    const kinds = Object.values(standardProblems);
    for (const { code, status } of kinds) {
      assert.match(code, /^[a-z]+(-[a-z]+)*$/);
      assert.ok(known.has(status), code);
    }
    assert.equal(new Set(kinds.map(({ code }) => code)).size, kinds.length);
  });

  test("the texts of a problem are escaped", async () => {
    const list = await (await getPage("/problems")).text();
    const page = await (await getPage("/problems/too-old")).text();
    assert.ok(page.includes("&lt;script&gt;") && page.includes("<code>{a: 1}</code>"), page);
    assert.doesNotMatch(list + page, /<script|<i>/);
  });

  test("returns 404 for an unknown code", async () => {
    await assertProblem(await fetch(`${running.url}/problems/unheard-of`), 404, "not-found");
  });
});
