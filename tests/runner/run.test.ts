import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";

const { NODE_TEST_CONTEXT: _nested, TEST_PARTS_URL: _shared, ...env } = process.env;

const runWith = (...args: string[]) =>
  spawnSync(process.execPath, ["tests/run.ts", ...args], { encoding: "utf8", env, timeout: 120_000 });

test("--watch without a file asks for one", () => {
  const { status, stderr } = runWith("--watch");
  assert.match(stderr, /^Name the files to watch\.\n\nUsage: /);
  assert.equal(status, 1);
});

test("a pattern that matches no file is named, beside one that does", () => {
  const { status, stdout, stderr } = runWith("tests/runner/run.test.ts", "no-such.test.ts");
  assert.match(stderr, /^No file matches no-such\.test\.ts\./);
  assert.deepEqual([status, stdout], [1, ""]);
});

test("a file that is no test is refused, although running it would succeed", () => {
  const { status, stdout, stderr } = runWith("tests/runner/run-files.ts");
  assert.match(stderr, /^tests\/runner\/run-files\.ts is no test file/);
  assert.deepEqual([status, stdout], [1, ""]);
});

for (const [what, file, part] of [
  ["a database", "packages/service-kit/src/database/migrate.test.ts", "postgres/newest"],
  ["Keycloak", "tests/keycloak/keycloak-journey.slow.test.ts", "keycloak"],
] as const) {
  test(`a test that needs ${what} fails without it, and says how to run it`, () => {
    const { status, stdout } = spawnSync(process.execPath, ["--test", file], { encoding: "utf8", env });
    assert.match(
      stdout,
      new RegExp(`needs what npm test starts \\(${part}\\)\\. .* npm test -- ${RegExp.escape(file)}`),
    );
    assert.equal(status, 1);
  });
}

describe("a run of test files", () => {
  test("ends before any test if a service can't be built, with the reason", () => {
    const fixture = new URL("change-source.test-fixture.ts", import.meta.url).href;
    const mistake = {
      file: "services/marketplace/src/catalog/catalog-routes.ts",
      after: 'const config = { access: "anyone" } as const;',
      insert: 'scope.get("/apps/newest", { config, schema: { querystring: { minimun: 1 } } }, async () => []);',
    };
    const files = ["packages/webhook-signature/src/*.test.ts"];
    const { status, stdout, stderr } = spawnSync(process.execPath, ["tests/run.ts", ...files], {
      encoding: "utf8",
      env: { ...env, NODE_OPTIONS: `--import=${fixture}`, SOURCE_CHANGE: JSON.stringify(mistake) },
      timeout: 120_000,
    });
    assert.match(
      stderr,
      /services\/marketplace doesn't start:.*GET \/api\/v1\/apps\/newest has an invalid schema \(querystring\).*No test has run/s,
    );
    assert.deepEqual([status, stdout], [1, "0 passed, 1 failed\n"]);
  });

  test("prints what the processes of a failed test have logged, and counts each failure", async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "ehr-marketplace-failing-"));
    t.after(() => rm(folder, { recursive: true }));
    const file = join(folder, "failing.test.ts");
    await writeFile(
      file,
      `import { keepLog } from "${import.meta.resolve("@ehr-marketplace/test-kit")}";
      import { describe, test } from "node:test";
      const log = keepLog("a worker");
      describe("some tests", () => {
        test("passes", () => log("the log of a test that passes"));
        test("fails", () => { log("the lease has expired"); throw new Error("1 is not 2"); });
      });`,
    );
    const { status, stdout } = runWith(file);
    assert.match(stdout, /Logs of "fails" in .*failing\.test\.ts:\n--- a worker \(1\)\nthe lease has expired\n/);
    assert.doesNotMatch(stdout, /the log of a test that passes/);
    assert.match(stdout, /1 is not 2/);
    assert.match(stdout, /^1 passed, 1 failed$/m);
    assert.equal(status, 1);
  });
});
