import assert from "node:assert/strict";
import { test } from "node:test";
import { isContinued } from "./marketplace-epoch.ts";

const seen = { system: "0123456789abcdef", timeline: 2, position: 20n };

for (const [what, change, expected] of [
  ["the same position", {}, true],
  ["a higher position", { position: 21n }, true],
  ["a lower position", { position: 19n }, false],
  ["another system", { system: "123456789abcdef0", position: 21n }, false],
  ["a newer timeline", { timeline: 3, position: 21n }, false],
  ["an older timeline", { timeline: 1, position: 21n }, false],
] as const) {
  test(`${what} is ${expected ? "the same" : "another"} epoch`, () => {
    assert.equal(isContinued(seen, { ...seen, ...change }), expected);
  });
}
