import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

const root = join(import.meta.dirname, "../..");
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: Record<string, string> };

/** Runs the command of a script, such as `node tests/run.ts --watch`, as npm would. */
function runCommand(command: string, ...given: string[]) {
  const [node, ...args] = command.split(" ");
  assert.equal(node, "node", "a script that runs something else can't explain itself: see dev/src/checks/tools.ts");
  return spawnSync(process.execPath, [...args, ...given], { cwd: root, encoding: "utf8", timeout: 60_000 });
}

describe("every script of package.json explains itself", () => {
  for (const [name, command] of Object.entries(scripts)) {
    test(`${name} --help prints the usage with examples, and does nothing else`, () => {
      const { status, stdout, stderr } = runCommand(command, "--help");
      assert.match(stdout, /^Usage: /);
      assert.match(stdout, /^ {2}--help /m);
      assert.match(stdout, new RegExp(`^Examples:\n(.*\n)*?.*npm (run (--silent )?)?${name}\\b`, "m"));
      assert.deepEqual([status, stderr], [0, ""]);
    });
  }
});

test("a script refuses an unknown option, and prints the usage instead of a stack trace", () => {
  const { status, stdout, stderr } = runCommand(scripts["check:lint"] ?? "", "--no-such-option");
  assert.match(stderr, /^Unknown option '--no-such-option'.*\n\nUsage: /s);
  assert.doesNotMatch(stderr, /^\s+at /m);
  assert.deepEqual([status, stdout], [1, ""]);
});
