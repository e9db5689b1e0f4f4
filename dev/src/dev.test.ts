import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

const runDev = (...given: string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, "dev.ts"), ...given], { encoding: "utf8" });

test("--help prints the options of the local stack and starts nothing", () => {
  const { status, stdout, stderr } = runDev("--help");
  assert.match(stdout, /^Usage: npm run dev -- /);
  assert.match(stdout, /^ {2}--inspect /m);
  assert.deepEqual([status, stderr], [0, ""]);
});

test("an unknown option of the local stack is named, without a stack trace", () => {
  const { status, stderr } = runDev("--debug");
  assert.match(stderr, /^Unknown option '--debug'.*\n\nUsage: npm run dev -- /s);
  assert.doesNotMatch(stderr, /^\s+at /m);
  assert.equal(status, 1);
});
