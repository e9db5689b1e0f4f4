import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "@ehr-marketplace/test-kit";
import { createRepresentation, type Representation } from "./representation.ts";
import { ResponseCache } from "./response-cache.ts";

const answerOf = (text: string): Representation =>
  createRepresentation(text, { contentType: "text/plain", cacheControl: "no-store" });
const textOf = async (response: Representation | Promise<Representation>): Promise<string> =>
  (await response).plain.body.toString();

/** A load that the test completes. */
function controlledLoad() {
  const settled = Promise.withResolvers<Representation>();
  let begun = 0;
  const load = (): Promise<Representation> => {
    begun += 1;
    return settled.promise;
  };
  return { load, begun: () => begun, end: (text: string) => settled.resolve(answerOf(text)), fail: settled.reject };
}

const longLived = { lifetimeMs: 60_000, maxBytes: 1_000_000 };
const never = (): Promise<Representation> => assert.fail("this must not be loaded");

test("concurrent requests for a missing key share one load", async () => {
  const cache = new ResponseCache(longLived);
  const slow = controlledLoad();
  const herd = Array.from({ length: 100 }, () => textOf(cache.get("key", slow.load)));
  slow.end("made once");
  assert.deepEqual(new Set(await Promise.all(herd)), new Set(["made once"]));
  assert.equal(slow.begun(), 1);
});

test("a cached response is returned without a load", async () => {
  const cache = new ResponseCache(longLived);
  await cache.get("key", () => Promise.resolve(answerOf("kept")));
  assert.equal(await textOf(cache.get("key", never)), "kept");
});

test("different keys have different responses", async () => {
  const cache = new ResponseCache(longLived);
  await cache.get("one", () => Promise.resolve(answerOf("1")));
  assert.equal(await textOf(cache.get("two", () => Promise.resolve(answerOf("2")))), "2");
  assert.equal(await textOf(cache.get("one", never)), "1");
});

test("loads again after invalidate", async () => {
  const cache = new ResponseCache(longLived);
  await cache.get("key", () => Promise.resolve(answerOf("old")));
  cache.invalidate();
  assert.equal(await textOf(cache.get("key", () => Promise.resolve(answerOf("new")))), "new");
});

test("a load that began before invalidate isn't returned to later callers, even if it ends first", async () => {
  const cache = new ResponseCache(longLived);
  const old = controlledLoad();
  const early = textOf(cache.get("key", old.load));
  cache.invalidate();
  old.end("old");
  assert.equal(await early, "old");
  assert.equal(await textOf(cache.get("key", () => Promise.resolve(answerOf("new")))), "new");
  assert.equal(await textOf(cache.get("key", never)), "new");
});

test("a load that began before invalidate doesn't replace the newer response, even if it ends last", async () => {
  const cache = new ResponseCache(longLived);
  const old = controlledLoad();
  const early = textOf(cache.get("key", old.load));
  cache.invalidate();
  assert.equal(await textOf(cache.get("key", () => Promise.resolve(answerOf("new")))), "new");
  old.end("old");
  assert.equal(await early, "old");
  assert.equal(await textOf(cache.get("key", never)), "new");
});

test("callers that wait for a load during invalidate still get its response", async () => {
  const cache = new ResponseCache(longLived);
  const slow = controlledLoad();
  const waiting = [textOf(cache.get("key", slow.load)), textOf(cache.get("key", slow.load))];
  cache.invalidate();
  slow.end("in time for them");
  assert.deepEqual(await Promise.all(waiting), ["in time for them", "in time for them"]);
});

test("a failed load rejects all its callers and isn't cached", async () => {
  const cache = new ResponseCache(longLived);
  const broken = controlledLoad();
  const herd = [1, 2, 3].map(() => assert.rejects(textOf(cache.get("key", broken.load)), /the database is away/));
  broken.fail(new Error("the database is away"));
  await Promise.all(herd);
  assert.equal(await textOf(cache.get("key", () => Promise.resolve(answerOf("back again")))), "back again");
});

test("a lifetime of 0 disables caching and sharing of loads", async () => {
  const cache = new ResponseCache({ ...longLived, lifetimeMs: 0 });
  const slow = controlledLoad();
  const both = [textOf(cache.get("key", slow.load)), textOf(cache.get("key", slow.load))];
  slow.end("each its own");
  await Promise.all(both);
  assert.equal(slow.begun(), 2);
  assert.equal(await textOf(cache.get("key", () => Promise.resolve(answerOf("and again")))), "and again");
});

test("a response is cached no longer than its lifetime", async () => {
  const cache = new ResponseCache({ ...longLived, lifetimeMs: 50 });
  let loads = 0;
  const load = (): Promise<Representation> => Promise.resolve(answerOf(`load ${++loads}`));
  const began = performance.now();
  await cache.get("key", load);
  await eventually("it is loaded again", 5_000, async () => (await textOf(cache.get("key", load))) === "load 2");
  assert.ok(performance.now() - began >= 50);
});

test("a response too large for the cache is returned", async () => {
  const cache = new ResponseCache({ ...longLived, maxBytes: 1_000 });
  assert.equal((await textOf(cache.get("key", () => Promise.resolve(answerOf("x".repeat(5_000)))))).length, 5_000);
});

test("a caller that waits for a slow load gets its response even if the cache fills up meanwhile", async () => {
  const cache = new ResponseCache({ ...longLived, maxBytes: 10_000 });
  const slow = controlledLoad();
  const waiting = textOf(cache.get("slow", slow.load));
  for (let other = 0; other < 20; other += 1) {
    await cache.get(`other ${other}`, () => Promise.resolve(answerOf("x".repeat(1_000))));
  }
  slow.end("slow but sure");
  assert.equal(await waiting, "slow but sure");
});
