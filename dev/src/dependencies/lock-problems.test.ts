import assert from "node:assert/strict";
import { test } from "node:test";
import { findLockProblems, type LockedPackage } from "./lock-problems.ts";

const right: LockedPackage = { version: "1.0.0", integrity: "sha512-AAAA", license: "MIT" };
const problemsWith = (locked: LockedPackage, allowScripts: Record<string, boolean> = {}): string[] =>
  findLockProblems({ packages: { "node_modules/a/node_modules/@b/c": locked }, allowScripts });

for (const [what, locked, problem] of [
  ["without integrity", { version: "1.0.0", license: "MIT" }, /^node_modules\/a\/node_modules\/@b\/c has no integrity/],
  ["from a named host", { ...right, resolved: "https://registry.example/c.tgz" }, /is resolved to a host/],
  ["with an unread install script", { ...right, hasInstallScript: true }, /has an install script that isn't listed/],
  ["without a licence", { version: "1.0.0", integrity: "sha512-AAAA" }, /has the licence \(none\)/],
  ["with a copyleft licence", { ...right, license: "AGPL-3.0-only" }, /has the licence AGPL-3\.0-only/],
  ["with one licence too many", { ...right, license: "MIT AND GPL-3.0-only" }, /has the licence MIT AND GPL-3\.0-only/],
  ["with a licence in no known form", { ...right, license: "SEE LICENSE IN LICENSE.txt" }, /has the licence SEE/],
] as const) {
  test(`a package ${what} is refused`, () => {
    const problems = problemsWith(locked);
    assert.equal(problems.length, 1, problems.join("\n"));
    assert.match(problems[0] ?? "", problem);
  });
}

test("reports all problems of a package at once", () => {
  assert.equal(problemsWith({ hasInstallScript: true, resolved: "https://registry.example/c.tgz" }).length, 4);
});

test("an install script may be listed as run or as not run", () => {
  assert.deepEqual(problemsWith({ ...right, hasInstallScript: true }, { "@b/c": true }), []);
  assert.deepEqual(problemsWith({ ...right, hasInstallScript: true }, { "@b/c": false }), []);
  assert.equal(problemsWith({ ...right, hasInstallScript: true }, { c: true }).length, 1);
});

for (const license of ["MIT", "(MIT OR GPL-3.0-only)", "MIT AND Zlib", "(MIT OR CC0-1.0)"]) {
  test(`the licence ${license} is accepted`, () => {
    assert.deepEqual(problemsWith({ ...right, license }), []);
  });
}

test("ignores the project's own workspaces", () => {
  const packages = { "": {}, "packages/a": {}, "node_modules/@ours/a": { link: true, resolved: "packages/a" } };
  assert.deepEqual(findLockProblems({ packages, allowScripts: {} }), []);
});

test("a second copy of undici is refused", () => {
  const packages = { "node_modules/undici": right, "packages/a/node_modules/undici": right };
  assert.deepEqual(findLockProblems({ packages, allowScripts: {} }), [
    "undici is locked 2 times: node_modules/undici, packages/a/node_modules/undici. Give all of them one version, by overrides in package.json",
  ]);
});
