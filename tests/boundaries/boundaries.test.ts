import assert from "node:assert/strict";
import { test } from "node:test";
import { cruise, type ICruiseResult, type IForbiddenRuleType } from "dependency-cruiser";
import extractTSConfig from "dependency-cruiser/config-utl/extract-ts-config";

const root = new URL("../../", import.meta.url).pathname;
const { default: config } = (await import(`${root}.dependency-cruiser.js`)) as {
  default: { forbidden: (IForbiddenRuleType & { name: string })[]; options: object & { exclude?: unknown } };
};

test("the fixture violates every dependency rule, and the check reports each violation", async () => {
  const { exclude: _fixtureIncluded, ...options } = config.options;
  process.chdir(root);
  const { output } = await cruise(
    ["tests/boundaries/fixture"],
    { ...options, ruleSet: { forbidden: config.forbidden }, validate: true },
    undefined,
    { tsConfig: extractTSConfig("tsconfig.json") },
  );
  const violated = new Set((output as ICruiseResult).summary.violations.map((violation) => violation.rule.name));
  assert.deepEqual([...violated].toSorted(), config.forbidden.map((rule) => rule.name).toSorted());
});
