import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "@ehr-marketplace/tests/support";
import { AnswerCache } from "./answer-cache.ts";
import { type Representation, representationOf } from "./representation.ts";

const answerOf = (text: string): Representation =>
  representationOf(text, { contentType: "text/plain", cacheControl: "no-store" });
const textOf = async (answer: Representation | Promise<Representation>): Promise<string> =>
  (await answer).plain.body.toString();

/** A load that ends when the test says so. */
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

test("a herd on a cold key costs one load, and all get its answer", async () => {
  const cache = new AnswerCache(longLived);
  const slow = controlledLoad();
  const herd = Array.from({ length: 100 }, () => textOf(cache.get("key", slow.load)));
  slow.end("made once");
  assert.deepEqual(new Set(await Promise.all(herd)), new Set(["made once"]));
  assert.equal(slow.begun(), 1);
});

test("what is kept is answered without a load", async () => {
  const cache = new AnswerCache(longLived);
  await cache.get("key", () => Promise.resolve(answerOf("kept")));
  assert.equal(await textOf(cache.get("key", never)), "kept");
});

test("different keys have different answers", async () => {
  const cache = new AnswerCache(longLived);
  await cache.get("one", () => Promise.resolve(answerOf("1")));
  assert.equal(await textOf(cache.get("two", () => Promise.resolve(answerOf("2")))), "2");
  assert.equal(await textOf(cache.get("one", never)), "1");
});

test("after dropAll, what was kept is loaded again", async () => {
  const cache = new AnswerCache(longLived);
  await cache.get("key", () => Promise.resolve(answerOf("old")));
  cache.dropAll();
  assert.equal(await textOf(cache.get("key", () => Promise.resolve(answerOf("new")))), "new");
});

test("a load that began before dropAll is not served to a caller who comes after it, though it ends first", async () => {
  const cache = new AnswerCache(longLived);
  const old = controlledLoad();
  const early = textOf(cache.get("key", old.load));
  cache.dropAll();
  old.end("old");
  assert.equal(await early, "old");
  assert.equal(await textOf(cache.get("key", () => Promise.resolve(answerOf("new")))), "new");
  assert.equal(await textOf(cache.get("key", never)), "new");
});

test("a load that began before dropAll does not replace the newer answer, though it ends last", async () => {
  const cache = new AnswerCache(longLived);
  const old = controlledLoad();
  const early = textOf(cache.get("key", old.load));
  cache.dropAll();
  assert.equal(await textOf(cache.get("key", () => Promise.resolve(answerOf("new")))), "new");
  old.end("old");
  assert.equal(await early, "old");
  assert.equal(await textOf(cache.get("key", never)), "new");
});

test("callers who wait for a load when dropAll comes are still answered", async () => {
  const cache = new AnswerCache(longLived);
  const slow = controlledLoad();
  const waiting = [textOf(cache.get("key", slow.load)), textOf(cache.get("key", slow.load))];
  cache.dropAll();
  slow.end("in time for them");
  assert.deepEqual(await Promise.all(waiting), ["in time for them", "in time for them"]);
});

test("a failed load fails all who waited for it, and is not kept", async () => {
  const cache = new AnswerCache(longLived);
  const broken = controlledLoad();
  const herd = [1, 2, 3].map(() => assert.rejects(textOf(cache.get("key", broken.load)), /the database is away/));
  broken.fail(new Error("the database is away"));
  await Promise.all(herd);
  assert.equal(await textOf(cache.get("key", () => Promise.resolve(answerOf("back again")))), "back again");
});

test("with a lifetime of 0 nothing is kept, and nothing shared", async () => {
  const cache = new AnswerCache({ ...longLived, lifetimeMs: 0 });
  const slow = controlledLoad();
  const both = [textOf(cache.get("key", slow.load)), textOf(cache.get("key", slow.load))];
  slow.end("each its own");
  await Promise.all(both);
  assert.equal(slow.begun(), 2);
  assert.equal(await textOf(cache.get("key", () => Promise.resolve(answerOf("and again")))), "and again");
});

test("an answer is kept no longer than its lifetime", async () => {
  const cache = new AnswerCache({ ...longLived, lifetimeMs: 50 });
  let loads = 0;
  const load = (): Promise<Representation> => Promise.resolve(answerOf(`load ${++loads}`));
  const began = performance.now();
  await cache.get("key", load);
  await eventually("it is loaded again", 5_000, async () => (await textOf(cache.get("key", load))) === "load 2");
  assert.ok(performance.now() - began >= 50);
});

test("an answer too large to keep is served all the same", async () => {
  const cache = new AnswerCache({ ...longLived, maxBytes: 1_000 });
  assert.equal((await textOf(cache.get("key", () => Promise.resolve(answerOf("x".repeat(5_000)))))).length, 5_000);
});

test("a caller who waits for a slow load is answered, though others fill the cache meanwhile", async () => {
  const cache = new AnswerCache({ ...longLived, maxBytes: 10_000 });
  const slow = controlledLoad();
  const waiting = textOf(cache.get("slow", slow.load));
  for (let other = 0; other < 20; other += 1) {
    await cache.get(`other ${other}`, () => Promise.resolve(answerOf("x".repeat(1_000))));
  }
  slow.end("slow but sure");
  assert.equal(await waiting, "slow but sure");
});
