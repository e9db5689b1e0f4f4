import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

const runWith = (...args: string[]) =>
  spawnSync(process.execPath, ["tests/run.ts", "--all-rounds", ...args], { encoding: "utf8" });

test("--help prints the usage", () => {
  const { status, stdout, stderr } = runWith("--help");
  assert.match(stdout, /^Usage: npm test -- /);
  assert.deepEqual([status, stderr], [0, ""]);
});

test("an unknown option is reported with the usage and without a stack trace", () => {
  const { status, stderr } = runWith("--fast");
  assert.match(stderr, /^Unknown option '--fast'.*\n\nUsage: npm test -- /s);
  assert.doesNotMatch(stderr, /^\s+at /m);
  assert.equal(status, 1);
});

test("a pattern that matches no file is reported, also beside one that matches", () => {
  const { status, stdout, stderr } = runWith("tests/run.test.ts", "no-such.test.ts");
  assert.match(stderr, /^No file matches no-such\.test\.ts\./);
  assert.deepEqual([status, stdout], [1, ""]);
});
