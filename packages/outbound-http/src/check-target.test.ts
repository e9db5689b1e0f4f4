import assert from "node:assert/strict";
import { test } from "node:test";
import { assertPrompt, cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { startNameServer } from "@ehr-marketplace/test-kit/name-server";
import { createResolver } from "./resolver.ts";
import { checkTarget } from "./target.ts";

test("a name whose servers don't respond in time, or that has no address, is unresolved, which is no refusal", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const zone = { "silent.example": () => "silence" as const, "empty.example": () => [] };
  const names = await startNameServer(cleanUp, zone);
  const resolver = createResolver(names);
  cleanUp(async () => resolver.close());
  // The resolver itself would wait longer.
  await assertPrompt(1_000, async () => {
    assert.equal(await checkTarget("https://silent.example/", [], resolver.resolve, 50), "unresolved");
  });
  await eventually("both types of addresses were queried", 30_000, () => names.queries("silent.example") >= 2);
  assert.equal(await checkTarget("https://empty.example/", [], resolver.resolve), "unresolved");
});

test("no query is made where the URL is enough", async () => {
  const resolve = (): never => assert.fail("no query is needed for this");
  assert.equal(await checkTarget("https://8.8.8.8/", [], resolve), undefined);
  assert.equal(await checkTarget("https://10.0.0.1/", [], resolve), "address-not-allowed");
  assert.equal(await checkTarget("http://hooks.example/", [], resolve), "plain-http-not-allowed");
  assert.equal(await checkTarget("https://hooks.example:0/", [], resolve), "url-invalid");
});
