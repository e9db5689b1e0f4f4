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
  const herd = Array.from({ length: 100 }, () => textOf(cache.getOne("app", "key", slow.load)));
  slow.end("made once");
  assert.deepEqual(new Set(await Promise.all(herd)), new Set(["made once"]));
  assert.equal(slow.begun(), 1);
});

test("a cached response is returned without a load", async () => {
  const cache = new ResponseCache(longLived);
  await cache.getOne("app", "key", () => Promise.resolve(answerOf("kept")));
  assert.equal(await textOf(cache.getOne("app", "key", never)), "kept");
});

test("different keys have different responses", async () => {
  const cache = new ResponseCache(longLived);
  await cache.getOne("app", "one", () => Promise.resolve(answerOf("1")));
  assert.equal(await textOf(cache.getOne("app", "two", () => Promise.resolve(answerOf("2")))), "2");
  assert.equal(await textOf(cache.getOne("app", "one", never)), "1");
});

test("loads again after invalidate", async () => {
  const cache = new ResponseCache(longLived);
  await cache.getOne("app", "key", () => Promise.resolve(answerOf("old")));
  cache.invalidate();
  assert.equal(await textOf(cache.getOne("app", "key", () => Promise.resolve(answerOf("new")))), "new");
});

test("a load that began before invalidate isn't returned to later callers, even if it ends first", async () => {
  const cache = new ResponseCache(longLived);
  const old = controlledLoad();
  const early = textOf(cache.getOne("app", "key", old.load));
  cache.invalidate();
  old.end("old");
  assert.equal(await early, "old");
  assert.equal(await textOf(cache.getOne("app", "key", () => Promise.resolve(answerOf("new")))), "new");
  assert.equal(await textOf(cache.getOne("app", "key", never)), "new");
});

test("a load that began before invalidate doesn't replace the newer response, even if it ends last", async () => {
  const cache = new ResponseCache(longLived);
  const old = controlledLoad();
  const early = textOf(cache.getOne("app", "key", old.load));
  cache.invalidate();
  assert.equal(await textOf(cache.getOne("app", "key", () => Promise.resolve(answerOf("new")))), "new");
  old.end("old");
  assert.equal(await early, "old");
  assert.equal(await textOf(cache.getOne("app", "key", never)), "new");
});

test("callers that wait for a load during invalidate still get its response", async () => {
  const cache = new ResponseCache(longLived);
  const slow = controlledLoad();
  const waiting = [textOf(cache.getOne("app", "key", slow.load)), textOf(cache.getOne("app", "key", slow.load))];
  cache.invalidate();
  slow.end("in time for them");
  assert.deepEqual(await Promise.all(waiting), ["in time for them", "in time for them"]);
});

test("a failed load rejects all its callers and isn't cached", async () => {
  const cache = new ResponseCache(longLived);
  const broken = controlledLoad();
  const herd = [1, 2, 3].map(() =>
    assert.rejects(textOf(cache.getOne("app", "key", broken.load)), /the database is away/),
  );
  broken.fail(new Error("the database is away"));
  await Promise.all(herd);
  assert.equal(await textOf(cache.getOne("app", "key", () => Promise.resolve(answerOf("back again")))), "back again");
});

test("a lifetime of 0 disables caching and sharing of loads", async () => {
  const cache = new ResponseCache({ ...longLived, lifetimeMs: 0 });
  const slow = controlledLoad();
  const both = [textOf(cache.getOne("app", "key", slow.load)), textOf(cache.getOne("app", "key", slow.load))];
  slow.end("each its own");
  await Promise.all(both);
  assert.equal(slow.begun(), 2);
  assert.equal(await textOf(cache.getOne("app", "key", () => Promise.resolve(answerOf("and again")))), "and again");
});

test("a response is cached no longer than its lifetime", async () => {
  const cache = new ResponseCache({ ...longLived, lifetimeMs: 50 });
  let loads = 0;
  const load = (): Promise<Representation> => Promise.resolve(answerOf(`load ${++loads}`));
  const began = performance.now();
  await cache.getOne("app", "key", load);
  await eventually(
    "it is loaded again",
    30_000,
    async () => (await textOf(cache.getOne("app", "key", load))) === "load 2",
  );
  assert.ok(performance.now() - began >= 50);
});

test("a response too large for the cache is returned", async () => {
  const cache = new ResponseCache({ ...longLived, maxBytes: 1_000 });
  assert.equal(
    (await textOf(cache.getOne("app", "key", () => Promise.resolve(answerOf("x".repeat(5_000)))))).length,
    5_000,
  );
});

test("a caller that waits for a slow load gets its response even if the cache fills up meanwhile", async () => {
  const cache = new ResponseCache({ ...longLived, maxBytes: 10_000 });
  const slow = controlledLoad();
  const waiting = textOf(cache.getOne("app", "slow", slow.load));
  for (let other = 0; other < 20; other += 1) {
    await cache.getOne("app", `other ${other}`, () => Promise.resolve(answerOf("x".repeat(1_000))));
  }
  slow.end("slow but sure");
  assert.equal(await waiting, "slow but sure");
});

test("a changed name invalidates what is about it and lists, and nothing else", async () => {
  const cache = new ResponseCache(longLived, () => 0);
  await cache.getOne("app", "app", () => Promise.resolve(answerOf("old")));
  await cache.getOne("other", "other", () => Promise.resolve(answerOf("kept")));
  cache.invalidateNames(["app"]);
  assert.equal(await textOf(cache.getOne("app", "app", () => Promise.resolve(answerOf("new")))), "new");
  assert.equal(await textOf(cache.getOne("other", "other", never)), "kept");
});

test("after a single change, a list is stale for at most 400 ms, while it is loaded again once", async () => {
  let now = 0;
  const cache = new ResponseCache(longLived, () => now);
  await cache.getList("list", () => Promise.resolve(answerOf("old")));
  cache.invalidateNames(["app"]);
  const again = controlledLoad();
  now = 400;
  assert.equal(await textOf(cache.getList("list", again.load)), "old");
  assert.equal(await textOf(cache.getList("list", again.load)), "old");
  now = 401;
  const waiting = textOf(cache.getList("list", never));
  again.end("new");
  assert.equal(await waiting, "new");
  assert.equal(again.begun(), 1);
});

test("a list that nobody asked for since an older change isn't served at all", async () => {
  let now = 0;
  const cache = new ResponseCache(longLived, () => now);
  await cache.getList("list", () => Promise.resolve(answerOf("old")));
  cache.invalidateNames(["app"]);
  now = 400;
  cache.invalidateNames(["app"]);
  now = 600;
  assert.equal(await textOf(cache.getList("list", () => Promise.resolve(answerOf("new")))), "new");
});

test("changes within half a second load a list again once, at the end of it", async () => {
  let now = 0;
  const cache = new ResponseCache(longLived, () => now);
  let loads = 0;
  const load = (): Promise<Representation> => Promise.resolve(answerOf(`load ${++loads}`));
  await cache.getList("list", load);
  for (now = 0; now < 2_000; now += 100) {
    cache.invalidateNames(["app"]);
    await cache.getList("list", load);
  }
  assert.equal(loads, 5);
});

test("a list is at most 900 ms behind a change, however many there are", async () => {
  let now = 0;
  let stored = 0;
  const cache = new ResponseCache(longLived, () => now);
  const changedAt: number[] = [];
  // Each load reads what is stored when it begins.
  const load = (): Promise<Representation> => Promise.resolve(answerOf(String(stored)));
  for (now = 0; now < 5_000; now += 50) {
    changedAt.push(now);
    stored = changedAt.length;
    cache.invalidateNames(["app"]);
    const shown = Number(await textOf(cache.getList("list", load)));
    const oldestMissing = changedAt[shown];
    assert.ok(oldestMissing === undefined || now - oldestMissing <= 900, `at ${now}: ${shown} of ${stored}`);
  }
});

test("a change during the interval is never lost, even if nothing follows it", async () => {
  let now = 0;
  const cache = new ResponseCache(longLived, () => now);
  await cache.getList("list", () => Promise.resolve(answerOf("old")));
  cache.invalidateNames(["app"]);
  now = 401;
  await cache.getList("list", () => Promise.resolve(answerOf("first")));
  cache.invalidateNames(["app"]);
  assert.equal(await textOf(cache.getList("list", never)), "first");
  now = 901;
  assert.equal(await textOf(cache.getList("list", () => Promise.resolve(answerOf("second")))), "second");
});

test("a reload that fails is an error only once the stale list may no longer be served", async () => {
  let now = 0;
  const cache = new ResponseCache(longLived, () => now);
  await cache.getList("list", () => Promise.resolve(answerOf("old")));
  cache.invalidateNames(["app"]);
  const fail = (): Promise<Representation> => Promise.reject(new Error("the database is away"));
  assert.equal(await textOf(cache.getList("list", fail)), "old");
  now = 401;
  await assert.rejects(cache.getList("list", fail), /away/);
});

test("stale lists are loaded again one at a time, and a request after the stale moment doesn't wait for its turn", async () => {
  let now = 0;
  const cache = new ResponseCache(longLived, () => now);
  const keys = ["a", "b", "c"];
  for (const key of keys) await cache.getList(key, () => Promise.resolve(answerOf("old")));
  cache.invalidateNames(["app"]);
  const loads = keys.map(() => controlledLoad());
  for (const [index, key] of keys.entries()) {
    assert.equal(await textOf(cache.getList(key, loads[index]?.load ?? never)), "old");
  }
  const begun = (): number[] => loads.map((load) => load.begun());
  assert.deepEqual(begun(), [1, 0, 0]);
  now = 401;
  assert.equal(await textOf(cache.getList("c", () => Promise.resolve(answerOf("new c")))), "new c");
  loads[0]?.end("new a");
  await eventually("the next list is loaded", 30_000, async () => begun()[1] === 1);
  loads[1]?.end("new b");
  assert.equal(await textOf(cache.getList("a", never)), "new a");
  assert.equal(await textOf(cache.getList("b", never)), "new b");
  assert.deepEqual(begun(), [1, 1, 0]);
});

test("more changed names than are remembered invalidate everything", async () => {
  const cache = new ResponseCache(longLived);
  await cache.getOne("app", "app", () => Promise.resolve(answerOf("old")));
  cache.invalidateNames(Array.from({ length: 10_001 }, (_, index) => `app-${index}`));
  assert.equal(await textOf(cache.getOne("app", "app", () => Promise.resolve(answerOf("new")))), "new");
});
