import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/tests/support";
import { findRefusal } from "./find-refusal.ts";
import { startNameServer } from "./name-server.test-support.ts";
import { createResolver } from "./resolver.ts";

test("doesn't refuse a name that doesn't resolve in time or has no address", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const zone = { "silent.example": () => "silence" as const, "empty.example": () => [] };
  const names = await startNameServer(cleanUp, zone);
  const resolver = createResolver(names);
  cleanUp(async () => resolver.close());
  const began = performance.now();
  assert.equal(await findRefusal("https://silent.example/", [], resolver.resolve, 50), undefined);
  assert.ok(performance.now() - began < 1_000, "without the resolver's own patience");
  await eventually("both address types were queried", 5_000, () => names.queryCount("silent.example") === 2);
  assert.equal(await findRefusal("https://empty.example/", [], resolver.resolve), undefined);
});

test("resolves no name when the URL alone is refused", async () => {
  const resolve = (): never => assert.fail("the name must not be resolved");
  assert.equal(await findRefusal("https://8.8.8.8/", [], resolve), undefined);
  assert.equal(await findRefusal("https://10.0.0.1/", [], resolve), "address-not-allowed");
  assert.equal(await findRefusal("http://hooks.example/", [], resolve), "plain-http-not-allowed");
  assert.equal(await findRefusal("https://hooks.example:0/", [], resolve), "url-invalid");
});
