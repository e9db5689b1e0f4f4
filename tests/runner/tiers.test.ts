import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, test } from "node:test";
import { affectedBy } from "./changed-files.ts";
import { findDoingMore, readTiers } from "./tiers.ts";

const tiers = await readTiers();

/** Source files that git knows: others may be of tests that run at the same time. */
const sources = execFileSync("git", ["-c", "safe.directory=*", "ls-files"], { encoding: "utf8" })
  .split("\n")
  .filter((file) => /\.(ts|tsx|js|mjs)$/.test(file) && existsSync(file));

describe("a test file", () => {
  test("is in the gate or in the slow tier, and never by accident in both or in neither", () => {
    const supports = /\.test-(support|fixture)\.ts$|^tests\/(support\/|runner\/load-files)/;
    const definesTests =
      /^(?: {2})*(?:test|describe)\(.*from "node:test"|from "node:test".*^(?: {2})*(?:test|describe)\(/ms;
    const hasTests = (file: string): boolean => !supports.test(file) && definesTests.test(readFileSync(file, "utf8"));
    const found = sources.filter(hasTests);
    const [gate, slow] = [new Set(tiers.gate), new Set(tiers.slow)];
    assert.deepEqual(
      found.filter((file) => gate.has(file) === slow.has(file)),
      [],
      "name it *.test.ts (gate) or *.slow.test.ts, in a workspace",
    );
    assert.ok(found.length > 400 && gate.size + slow.size >= found.length);
  });

  test("of the gate does more in the slow tier if it, or what it imports, says so", () => {
    const doingMore = findDoingMore(tiers.gate);
    assert.ok(doingMore.includes("services/marketplace/src/delivery/ordering-races.test.ts"));
    assert.ok(doingMore.includes("tests/access/permission-matrix.test.ts"), "by tests/support");
    assert.ok(!doingMore.includes("services/marketplace/src/search/search-apps.test.ts"));
  });
});

test("each file of the slow tier has a row that names the tests of the gate for its promises", () => {
  const [, table = ""] = readFileSync("docs/figures/build.md", "utf8").split(
    "## Tests of the gate for the slow tier's promises",
  );
  const names = tiers.slow.map((file) => basename(file, ".slow.test.ts"));
  const missing = names.filter((name) => !new RegExp(`^\\|.*[/\`]${name}\`.*\\|`, "m").test(table));
  assert.deepEqual(missing, []);
});

describe("npm test -- --changed runs", () => {
  const affected = (...changed: string[]): string[] => affectedBy(changed, tiers.gate);

  test("the tests that import a changed file, directly, through others or through a running service", () => {
    const launching = affected("services/ehr/src/launches/launch-app.ts");
    assert.ok(launching.includes("services/ehr/src/launches/launch-app.test.ts"));
    assert.ok(launching.includes("tests/access/ehr-permission-matrix.test.ts"));
    assert.ok(!launching.includes("services/marketplace/src/search/search-apps.test.ts"));
    const screens = affected("services/web/src/console/main.tsx");
    assert.ok(screens.includes("tests/journeys/console.test.ts"));
    assert.ok(!screens.includes("services/ehr/src/launches/launch-app.test.ts"));
  });

  test("a changed test, and those of documents", () => {
    const files = affected("services/marketplace/src/billing/price.test.ts");
    assert.deepEqual(
      files.filter((file) => !file.startsWith("tests/documents/")),
      ["services/marketplace/src/billing/price.test.ts"],
    );
  });

  test("the guides after a change of a document", () => {
    assert.ok(affected("docs/guides/vendor.md").includes("tests/journeys/guides.test.ts"));
  });

  test("all after a change of SQL, JSON or another file that nobody imports", () => {
    for (const file of [
      "services/ehr/migrations/0001-init.sql",
      "package-lock.json",
      ".ci/run",
      "dev/src/demo-data/apps.ts",
    ])
      assert.deepEqual(affected(file), tiers.gate, file);
  });
});
