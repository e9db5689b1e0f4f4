import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { type Cacheable, createInstallationCache } from "./installation-cache.ts";

interface Loaded extends Cacheable {
  text: string;
}

const loaded = (text: string, slugs: string[] = [], bytes = 100): Loaded => ({
  text,
  has: (slug) => slugs.includes(slug),
  bytes,
});

/** A cache whose loads the test resolves in any order. */
function controlled(maxBytes = 1_000_000) {
  const begun: { alias: string; end(value: Loaded): void; fail(error: Error): void }[] = [];
  let now = 0;
  const cache = createInstallationCache<Loaded>({
    maxBytes,
    load(alias) {
      const settled = Promise.withResolvers<Loaded>();
      begun.push({ alias, end: settled.resolve, fail: settled.reject });
      return settled.promise;
    },
    now: () => now,
  });
  cache.connected();
  const endLoad = async (value: Loaded, which = begun.length - 1): Promise<void> => {
    begun[which]?.end(value);
    await setImmediate();
  };
  return {
    cache,
    begun,
    endLoad,
    /** Reads like a request; undefined if the value has to be loaded. */
    kept: (alias: string): Promise<string | undefined> =>
      Promise.race([cache.get(alias).then(({ text }) => text), setImmediate(undefined)]),
    fill: async (alias: string, value: Loaded): Promise<void> => {
      void cache.get(alias);
      await endLoad(value);
    },
    letPass: (ms: number) => {
      now += ms;
    },
  };
}

test("concurrent reads share one load, and later reads its value", async () => {
  const { cache, begun, endLoad, kept } = controlled();
  const herd = Array.from({ length: 100 }, async () => cache.get("org"));
  await endLoad(loaded("once"));
  assert.deepEqual(new Set((await Promise.all(herd)).map(({ text }) => text)), new Set(["once"]));
  assert.equal(await kept("org"), "once");
  assert.equal(begun.length, 1);
});

for (const [what, drop] of [
  ["its organisation is dropped", (cache: ReturnType<typeof controlled>["cache"]) => cache.drop("org")],
  ["its organisation is heard of", (cache) => cache.handleNotification("org")],
  ["an app of its is heard of", (cache) => cache.handleNotification("app:scribe")],
  ["everything is dropped", (cache) => cache.handleNotification("")],
  ["the listener is connected again", (cache) => cache.connected()],
] as [string, (cache: ReturnType<typeof controlled>["cache"]) => void][]) {
  test(`loads again when ${what}`, async () => {
    const { cache, fill, kept, endLoad } = controlled();
    await fill("org", loaded("old", ["scribe"]));
    drop(cache);
    assert.equal(await kept("org"), undefined);
    await endLoad(loaded("new"));
    assert.equal(await kept("org"), "new");
  });

  test(`doesn't cache or share a load when ${what} during it, but resolves it for waiting callers`, async () => {
    const { cache, begun, endLoad, kept } = controlled();
    const early = cache.get("org");
    drop(cache);
    const late = cache.get("org");
    assert.equal(begun.length, 2);
    await endLoad(loaded("old"), 0);
    assert.equal((await early).text, "old");
    assert.equal(await kept("org"), undefined, "the old one ended first");
    await endLoad(loaded("new"), 1);
    assert.equal((await late).text, "new");
    assert.equal(await kept("org"), "new");
  });

  test(`doesn't replace a newer value when ${what} during a load that ends last`, async () => {
    const { cache, endLoad, kept } = controlled();
    const early = cache.get("org");
    drop(cache);
    void cache.get("org");
    await endLoad(loaded("new"), 1);
    await endLoad(loaded("old"), 0);
    assert.equal((await early).text, "old");
    assert.equal(await kept("org"), "new");
  });
}

test("a notification for one organisation leaves the others cached", async () => {
  const { cache, fill, kept } = controlled();
  await fill("one", loaded("1", ["scribe"]));
  await fill("two", loaded("2", ["tally"]));
  cache.handleNotification("three");
  cache.handleNotification("app:other");
  assert.deepEqual([await kept("one"), await kept("two")], ["1", "2"]);
  cache.handleNotification("app:scribe");
  assert.deepEqual([await kept("one"), await kept("two")], [undefined, "2"]);
});

test("a failed load rejects for its waiting callers and isn't cached", async () => {
  const { cache, begun, endLoad, kept } = controlled();
  const waiting = [cache.get("org"), cache.get("org")].map((each) => assert.rejects(async () => each, /unavailable/));
  begun[0]?.fail(new Error("the database is unavailable"));
  await Promise.all(waiting);
  assert.equal(await kept("org"), undefined);
  await endLoad(loaded("back"));
  assert.equal(await kept("org"), "back");
});

test("serves a value for an hour while the listener is connected", async () => {
  const { fill, kept, letPass } = controlled();
  await fill("org", loaded("kept"));
  letPass(3_599_999);
  assert.equal(await kept("org"), "kept");
  letPass(1);
  assert.equal(await kept("org"), undefined);
});

test("serves values for a minute once the listener is disconnected", async () => {
  const { cache, fill, kept, letPass } = controlled();
  await fill("early", loaded("early"));
  letPass(600_000);
  cache.disconnected();
  letPass(30_000);
  await fill("late", loaded("late"));
  letPass(29_999);
  assert.deepEqual([await kept("early"), await kept("late")], ["early", "late"]);
  letPass(1);
  assert.deepEqual([await kept("early"), await kept("late")], [undefined, "late"]);
  letPass(30_000);
  assert.equal(await kept("late"), undefined);
});

test("loads each value that has to be current while the listener is disconnected, and shares loads in progress", async () => {
  const { cache, begun, fill, endLoad } = controlled();
  await fill("org", loaded("cached"));
  assert.equal((await cache.getCurrent("org")).text, "cached");
  cache.disconnected();
  const both = [cache.getCurrent("org"), cache.getCurrent("org")];
  await endLoad(loaded("changed"));
  assert.deepEqual(
    (await Promise.all(both)).map(({ text }) => text),
    ["changed", "changed"],
  );
  assert.equal(begun.length, 2);
  void cache.getCurrent("org");
  assert.equal(begun.length, 3);
});

test("serves values for a minute before the listener first connects", async () => {
  let now = 0;
  let loads = 0;
  const cache = createInstallationCache({
    maxBytes: 1_000,
    load: () => Promise.resolve(loaded(`load ${++loads}`)),
    now: () => now,
  });
  await cache.get("org");
  now = 59_999;
  assert.equal((await cache.get("org")).text, "load 1");
  now = 60_000;
  assert.equal((await cache.get("org")).text, "load 2");
});

test("limits its memory: evicts the least recently used, and doesn't cache values that are too large", async () => {
  const { fill, kept } = controlled(3_000);
  await fill("one", loaded("1", [], 1_000));
  await fill("two", loaded("2", [], 1_000));
  assert.equal(await kept("one"), "1");
  await fill("three", loaded("3", [], 1_000));
  assert.deepEqual([await kept("one"), await kept("two"), await kept("three")], ["1", undefined, "3"]);
  await fill("huge", loaded("huge", [], 10_000));
  assert.deepEqual([await kept("one"), await kept("three"), await kept("huge")], ["1", "3", undefined]);
});
