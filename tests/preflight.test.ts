import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";

const fixture = new URL("change-source.test-fixture.ts", import.meta.url).href;
const marketplace = {
  file: "services/marketplace/src/catalog/catalog-routes.ts",
  after: 'const config = { access: "anyone" } as const;',
};
const ehr = {
  file: "services/ehr/src/audit/audit-routes.ts",
  after: "scope.addSchema(schema);",
};
const route = (options: string): string => `scope.get("/apps/newest", ${options}, async () => []);`;
const responding = (schema: string): string => route(`{ config, schema: { response: { 200: ${schema} } } }`);

/** Runs Node with a mistake in one source file of all its processes. */
function runWith(mistake: object, ...args: string[]) {
  const { NODE_TEST_CONTEXT: _nested, ...inherited } = process.env;
  const env = { ...inherited, NODE_OPTIONS: `--import=${fixture}`, SOURCE_CHANGE: JSON.stringify(mistake) };
  return spawnSync(process.execPath, args, { encoding: "utf8", env, timeout: 120_000 });
}

describe("a mistake in a route is reported before any test runs", () => {
  const mistakes: Record<string, [change: { file: string; after: string; insert: string }, reason: RegExp]> = {
    "a route without access": [{ ...marketplace, insert: route("{}") }, /no access rule: GET \/api\/v1\/apps\/newest/],
    "a route of the EHR without access": [{ ...ehr, insert: route("{}") }, /no access rule: GET \/api\/apps\/newest/],
    "a route that exists": [
      { ...marketplace, insert: 'scope.get("/apps", { config }, async () => []);' },
      /'GET' already declared for route '\/api\/v1\/apps'/,
    ],
    "a schema that isn't one": [
      { ...marketplace, insert: route('{ config, schema: { querystring: { type: "objct" } } }') },
      /\/api\/v1\/apps\/newest.*type/,
    ],
    "a schema that was not added": [
      { ...marketplace, insert: responding('{ $ref: "NewestApps#" }') },
      /\/api\/v1\/apps\/newest.*NewestApps/,
    ],
    "an exception": [{ ...marketplace, insert: 'throw new Error("the plugin fails");' }, /Error: the plugin fails/],
    "a syntax error": [{ ...marketplace, insert: "const = 1;" }, /catalog-routes\.ts:\d+\n/],
  };
  for (const [what, [mistake, reason]] of Object.entries(mistakes)) {
    test(what, () => {
      const { status, stderr } = runWith(mistake, "tests/preflight.process.ts");
      assert.match(stderr, reason);
      assert.equal(status, 1);
    });
  }

  test("by npm test, which ends", () => {
    const mistake = { ...marketplace, insert: route("{}") };
    const { status, stdout, stderr } = runWith(
      mistake,
      "tests/run.ts",
      "tests/durations.test.ts",
      "tests/failures.test.ts",
    );
    assert.match(stderr, /services\/marketplace doesn't start:.*no access rule.*No test has run/s);
    assert.deepEqual([status, stdout], [1, "0 passed, 1 failed\n"]);
  });
});

describe("a test file whose service can't be built ends, and shows the reason", () => {
  for (const [what, insert] of [
    ["when its routes are registered", 'throw new Error("the plugin fails");'],
    ["when it begins to listen", route("{}")],
  ] as const) {
    test(what, () => {
      const file = "services/marketplace/src/catalog/list-apps.test.ts";
      const { status, stdout } = runWith({ ...marketplace, insert }, "--test", file);
      assert.match(stdout, /Error: the plugin fails|no access rule: GET \/api\/v1\/apps\/newest/);
      assert.equal(status, 1);
    });
  }
});
