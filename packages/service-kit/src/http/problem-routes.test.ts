import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { assertProblem, cleanUpAfter } from "@ehr-marketplace/tests/support";
import { assertGuarded, startTestServer, type TestServer } from "./server.test-support.ts";
import { standardProblems } from "./standard-problems.ts";

const own = {
  code: "too-old",
  status: 409,
  title: 'It is "too" old & <i>gone</i>',
  advice: "Send `{a: 1}` & <script>alert(1)</script>.",
};

describe("every problem is documented where its type leads", () => {
  const cleanUp = cleanUpAfter();
  let running: TestServer;
  before(async () => {
    running = await startTestServer(cleanUp, { problems: [own] });
  });

  for (const { code, status, title } of Object.values(standardProblems)) {
    test(`/problems/${code} says its status, its title and what to do`, async () => {
      const answer = await fetch(`${running.url}/problems/${code}`);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("content-type"), "text/html; charset=utf-8");
      assertGuarded(answer);
      const page = await answer.text();
      for (const expected of [code, String(status), `<h1>${title}</h1>`]) assert.ok(page.includes(expected), expected);
      assert.match(page, /<p>[A-Z][^<]{5,}/);
    });
  }

  test("/problems lists every standard problem and the service's own, each with a link", async () => {
    const page = await (await fetch(`${running.url}/problems`)).text();
    for (const { code } of Object.values(standardProblems)) assert.ok(page.includes(`href="/problems/${code}"`), code);
    assert.equal(page.match(/<dt>/g)?.length, Object.keys(standardProblems).length + 1);
  });

  test("each standard problem has a code, and a status, that the contract knows", () => {
    const known = new Set([400, 401, 403, 404, 405, 408, 409, 410, 413, 414, 415, 422, 429, 431, 500, 503]);
    const kinds = Object.values(standardProblems);
    for (const { code, status } of kinds) {
      assert.match(code, /^[a-z]+(-[a-z]+)*$/);
      assert.ok(known.has(status), code);
    }
    assert.equal(new Set(kinds.map(({ code }) => code)).size, kinds.length);
  });

  test("what a kind says is shown as text, never run as markup", async () => {
    const list = await (await fetch(`${running.url}/problems`)).text();
    const page = await (await fetch(`${running.url}/problems/too-old`)).text();
    assert.ok(page.includes("&lt;script&gt;") && page.includes("<code>{a: 1}</code>"), page);
    assert.doesNotMatch(list + page, /<script|<i>/);
  });

  test("a code that no problem has is 404", async () => {
    await assertProblem(await fetch(`${running.url}/problems/unheard-of`), 404, "not-found");
  });
});
