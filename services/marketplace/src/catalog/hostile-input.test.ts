import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { assertPrompt, cleanUpAfter, cloneDatabase, rounds } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { type RunningMarketplace, startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import fc from "fast-check";

const nasty = [
  "",
  " ",
  "0",
  "-1",
  "1.0",
  "NaN",
  "Infinity",
  "1e309",
  "99999999999999999999",
  "true",
  "null",
  "undefined",
  "[]",
  "{}",
  "' or 1=1 --",
  "'; select pg_sleep(10); --",
  "$1",
  "%",
  "_",
  "\\",
  "\\'",
  '"',
  "a:*",
  "a & b | !c",
  "<->",
  "'a' <-> 'b'",
  "../../etc/passwd",
  "<script>alert(1)</script>",
  "${7*7}",
  "{{7*7}}",
  "\u202Eabc",
  "ﷺ",
  "𝒳",
  "👩‍⚕️",
  "İ",
  "ß",
  "\uFFFF",
  "e\u0301".repeat(50),
  "a".repeat(199),
  "a ".repeat(100),
  "z".repeat(3_000),
  "__proto__",
  "constructor",
  "toString",
  "#FINANCIAL",
  "\r\nx-evil: 1",
  "\t",
];

const targets = [
  ["/apps", "category"],
  ["/apps", "vendor"],
  ["/apps", "page"],
  ["/apps", "size"],
  ["/apps", "sort"],
  ["/apps/search", "q"],
  ["/apps/search", "category"],
  ["/apps/search", "limit"],
  ["/apps/featured", "x"],
  ["/apps/categories", "x"],
  ["/apps/lumen-schedule", "x"],
  ["/apps/lumen-schedule/pricing", "x"],
  ["/apps/lumen-schedule/versions", "limit"],
  ["/apps/lumen-schedule/versions", "after"],
  ["/vendors/lumen-medical", "x"],
] as const;

describe("hostile input never causes a 5xx", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: RunningMarketplace;
  before(async () => {
    const database = await cloneDatabase(cleanUp, "demo");
    marketplace = await startMarketplace(cleanUp, database.serviceUrl);
  });
  const get = async (path: string): Promise<number> => {
    const response = await marketplace.get(path);
    const body = await response.text();
    if (response.status >= 400) {
      assert.equal(response.headers.get("content-type"), "application/problem+json", `${path}: ${body}`);
      assert.doesNotMatch(body, /select|syntax error|node_modules|at file:/i);
    } else JSON.parse(body);
    return response.status;
  };

  for (const [path, parameter] of targets) {
    test(`in ${parameter} of ${path}: 200 or 400, as decided, alone, twice, or as an array`, async () => {
      for (const value of nasty) {
        const encoded = encodeURIComponent(value);
        const other = path === "/apps/search" && parameter !== "q" ? "q=a&" : "";
        const status = await get(`${path}?${other}${parameter}=${encoded}`);
        assert.ok([200, 400].includes(status), `${parameter}=${value}: ${status}`);
        assert.equal(
          await get(`${path}?${other}${parameter}[]=${encoded}`),
          path === "/apps/search" && parameter === "q" ? 400 : 200,
        );
        assert.equal(
          await get(`${path}?${other}${parameter}=${encoded}&${parameter}=${encoded}`),
          parameter === "x" ? 200 : 400,
        );
        await assertProblem(
          await marketplace.get(`${path}?${other}${parameter}=${encoded}%00`),
          400,
          "invalid-request",
        );
      }
    });
  }

  test("in the slug: 404, or 400 where the path itself is malformed", async () => {
    for (const value of nasty.filter((each) => each !== "" && !each.includes("..") && each.length < 4_000)) {
      const slug = encodeURIComponent(value);
      for (const path of [`/apps/${slug}`, `/apps/${slug}/pricing`, `/apps/${slug}/versions`, `/vendors/${slug}`]) {
        assert.equal(await get(path), 404, path);
      }
    }
    for (const malformed of ["%", "%zz", "%c3%28", "%ff"])
      assert.equal(await get(`/apps/${malformed}`), 400, malformed);
    assert.equal(await get("/apps/%00"), 400);
  });

  test("a URL over 8 KiB is 414", async () => {
    await assertProblem(await marketplace.get(`/apps/search?q=a&x=${"y".repeat(8_200)}`), 414, "uri-too-long");
    await assertProblem(await marketplace.get(`/apps/${"y".repeat(8_200)}`), 414, "uri-too-long");
  });

  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    test(`${method} is 405 with Allow on every route, and 404 where there is none`, async () => {
      for (const path of [
        "/apps",
        "/apps/search",
        "/apps/featured",
        "/apps/categories",
        "/apps/x-ray",
        "/apps/x-ray/pricing",
        "/apps/x-ray/versions",
        "/vendors/x-ray",
      ]) {
        const response = await fetch(`${marketplace.url}/api/v1${path}`, { method });
        assert.equal(response.headers.get("allow"), "GET, HEAD");
        await assertProblem(response, 405, "method-not-allowed");
      }
      await assertProblem(await fetch(`${marketplace.url}/api/v1/nowhere`, { method }), 404, "not-found");
    });
  }

  test("responds quickly and never with 5xx, for any query string", async () => {
    const word = fc.oneof(
      fc.string({ unit: "binary", maxLength: 60 }),
      fc.string({ unit: "grapheme", maxLength: 60 }),
      fc.constantFrom(...nasty),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(word, { maxLength: 4 }),
        fc.constantFrom(...targets),
        async (words, [path, parameter]) => {
          await assertPrompt(2_000, async () => {
            const status = await get(`${path}?${parameter}=${encodeURIComponent(words.join(" ").toWellFormed())}`);
            assert.ok([200, 400, 414].includes(status), String(status));
          });
        },
      ),
      { numRuns: rounds(100, 400) },
    );
  });
});
