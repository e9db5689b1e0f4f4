import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/tests/support";
import { startNameServer } from "./name-server.test-support.ts";
import { createResolver } from "./resolver.ts";
import { whyRefused } from "./why-refused.ts";

test("who doesn't hear from a name's servers in time, or hears of no address, refuses nothing", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const zone = { "silent.example": () => "silence" as const, "empty.example": () => [] };
  const names = await startNameServer(cleanUp, zone);
  const resolver = createResolver(names);
  cleanUp(async () => resolver.close());
  const began = performance.now();
  assert.equal(await whyRefused("https://silent.example/", [], resolver.resolve, 50), undefined);
  assert.ok(performance.now() - began < 1_000, "without the resolver's own patience");
  await eventually("both kinds of addresses were asked for", 5_000, () => names.asked("silent.example") === 2);
  assert.equal(await whyRefused("https://empty.example/", [], resolver.resolve), undefined);
});

test("nobody is asked where the URL says it all", async () => {
  const resolve = (): never => assert.fail("nobody has to be asked for this");
  assert.equal(await whyRefused("https://8.8.8.8/", [], resolve), undefined);
  assert.equal(await whyRefused("https://10.0.0.1/", [], resolve), "address-not-allowed");
  assert.equal(await whyRefused("http://hooks.example/", [], resolve), "plain-http-not-allowed");
  assert.equal(await whyRefused("https://hooks.example:0/", [], resolve), "url-invalid");
});
