import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { resolveReturnTo } from "./return-to.ts";

const origin = "https://apps.example";

describe("after sign-in the browser returns", () => {
  for (const [given, expected] of [
    ["/practice/riverside-clinic?status=active#top", "/practice/riverside-clinic?status=active#top"],
    ["/apps/müller", "/apps/m%C3%BCller"],
    ["/", "/"],
    [undefined, "/"],
  ] as const) {
    test(`to the page that was asked for: ${given}`, () => {
      assert.equal(resolveReturnTo(given, origin), `${origin}${expected}`);
    });
  }

  for (const given of [
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "\\\\evil.example",
    "javascript:alert(1)",
    " /",
    "",
    "/login?returnTo=/",
    "/callback?code=1",
    "/logout",
    "/bff/session",
    "/x/../bff/session",
    `/${"a".repeat(1_000)}`,
    `/${" ".repeat(400)}x`,
    `/${"漢".repeat(200)}`,
  ]) {
    test(`to the start page, whatever is given: ${JSON.stringify(given.slice(0, 30))}`, () => {
      assert.equal(resolveReturnTo(given, origin), `${origin}/`);
    });
  }

  test("to a page of ours, also if its path has two slashes", () => {
    assert.equal(resolveReturnTo("/.//evil.example", origin), `${origin}//evil.example`);
  });

  test("to no other origin, for any text", () => {
    const parts = fc.constantFrom(
      "/",
      "\\",
      ".",
      "..",
      "//",
      "@",
      ":",
      "evil.example",
      "%2f",
      "\t",
      "\n",
      "?",
      "#",
      "a",
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 12 }), (given) => {
        const resolved = resolveReturnTo(given.join(""), origin);
        assert.equal(new URL(resolved).origin, origin);
        assert.match(resolved, /^https:\/\/apps\.example\/[\x21-\x7e]*$/);
      }),
      { numRuns: 2_000 },
    );
  });
});
