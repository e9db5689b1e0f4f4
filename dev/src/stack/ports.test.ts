import assert from "node:assert/strict";
import { test } from "node:test";
import { assertUsable } from "./ports.ts";

const ports = { web: 20_708, marketplace: 20_710, ehr: 20_711, idp: 20_712, demoApp: 20_713, workerHealth: 20_714 };
const inspect = { marketplace: 20_720, worker: 20_721, ehr: 20_722, web: 20_723 };

test("two parts of a stack never have the same port, also one that is derived from a variable", async () => {
  await assert.rejects(
    assertUsable({ ...ports, ehr: 20_710, inspect }, false),
    /^Error: MARKETPLACE_PORT and EHR_PORT are both 20710\./,
  );
  await assert.rejects(
    assertUsable({ ...ports, marketplace: 20_714, inspect }, false),
    /^Error: MARKETPLACE_PORT and IDP_PORT \+ 2 are both 20714\./,
  );
});

test("a debugger's port is compared only if there are debuggers", async () => {
  const both = { ...ports, inspect: { marketplace: 20_709, worker: 20_710, ehr: 20_718, web: 20_719 } };
  await assert.rejects(assertUsable(both, true), /^Error: MARKETPLACE_PORT and INSPECT_PORT \+ 1 are both 20710\./);
});
