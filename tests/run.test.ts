import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

const runWith = (...args: string[]) =>
  spawnSync(process.execPath, ["tests/run.ts", "--all-rounds", ...args], { encoding: "utf8" });

test("--watch without a file asks for one", () => {
  const { status, stderr } = runWith("--watch");
  assert.match(stderr, /^Name the files to watch\.\n\nUsage: /);
  assert.equal(status, 1);
});

test("a pattern that matches no file is named, beside one that does", () => {
  const { status, stdout, stderr } = runWith("tests/run.test.ts", "no-such.test.ts");
  assert.match(stderr, /^No file matches no-such\.test\.ts\./);
  assert.deepEqual([status, stdout], [1, ""]);
});

test("a file that is no test is refused, although running it would succeed", () => {
  const { status, stdout, stderr } = runWith("tests/run-files.ts");
  assert.match(stderr, /^tests\/run-files\.ts is no test file/);
  assert.deepEqual([status, stdout], [1, ""]);
});

test("a test that needs a database says how to run it, when node --test runs it alone", () => {
  const file = "packages/service-kit/src/database/migrate.test.ts";
  const { TEST_CLUSTER_URL: _database, NODE_TEST_CONTEXT: _nested, ...env } = process.env;
  const { status, stdout } = spawnSync(process.execPath, ["--test", file], { encoding: "utf8", env });
  assert.match(stdout, new RegExp(`needs a database, .* npm test -- ${RegExp.escape(file)}$`, "m"));
  assert.equal(status, 1);
});

test("a test that needs Keycloak fails without it, and says how to run it", () => {
  const file = "tests/keycloak/keycloak-journey.test.ts";
  const { TEST_KEYCLOAK: _keycloak, NODE_TEST_CONTEXT: _nested, ...env } = process.env;
  const { status, stdout } = spawnSync(process.execPath, ["--test", file], { encoding: "utf8", env });
  assert.match(stdout, /This test needs Keycloak, which npm run test:keycloak starts\./);
  assert.equal(status, 1);
});
