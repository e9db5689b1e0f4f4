import assert from "node:assert/strict";
import { test } from "node:test";
import { writeTogether } from "./write-together.ts";

function controlled() {
  const writes: { items: number[]; end: (results: string[]) => void; fail: (error: Error) => void }[] = [];
  const write = (items: number[]): Promise<string[]> =>
    new Promise((end, fail) => {
      writes.push({ items, end, fail });
    });
  return { writes, write };
}

test("one that comes alone is written at once; what comes meanwhile is written together, in the order in which it came", async () => {
  const { writes, write } = controlled();
  const add = writeTogether({ most: 3, write });
  const results = [1, 2, 3, 4, 5].map(add);
  assert.deepEqual(
    writes.map(({ items }) => items),
    [[1]],
  );
  writes[0]?.end(["one"]);
  assert.equal(await results[0], "one");
  assert.deepEqual(writes[1]?.items, [2, 3, 4], "at most so many");
  writes[1]?.end(["two", "three", "four"]);
  assert.deepEqual(await Promise.all(results.slice(1, 4)), ["two", "three", "four"]);
  writes[2]?.end(["five"]);
  assert.equal(await results[4], "five");

  const later = add(6);
  assert.deepEqual(writes[3]?.items, [6], "nobody waits where nothing is under way");
  writes[3]?.end(["six"]);
  assert.equal(await later, "six");
});

test("a write that fails fails those that were in it, and no others", async () => {
  const { writes, write } = controlled();
  const add = writeTogether({ most: 2, write });
  const results = [1, 2, 3, 4].map((item) => add(item).catch((error: Error) => error.message));
  writes[0]?.end(["one"]);
  await results[0];
  writes[1]?.fail(new Error("wrong"));
  assert.deepEqual(await Promise.all(results.slice(0, 3)), ["one", "wrong", "wrong"]);
  writes[2]?.end(["four"]);
  assert.equal(await results[3], "four");
});

test("as many writes are under way as may be, and none waits for a slower one", async () => {
  const { writes, write } = controlled();
  const add = writeTogether({ most: 1, atOnce: 2, write });
  const results = [1, 2, 3].map(add);
  assert.deepEqual(
    writes.map(({ items }) => items),
    [[1], [2]],
  );
  writes[1]?.end(["two"]);
  assert.equal(await results[1], "two");
  assert.deepEqual(writes[2]?.items, [3]);
  writes[2]?.end(["three"]);
  assert.equal(await results[2], "three");
  writes[0]?.end(["one"]);
  assert.equal(await results[0], "one");
});

test("when the database is away, nobody in line waits for another time-out", async () => {
  const { writes, write } = controlled();
  const add = writeTogether({ most: 1, write });
  const results = [1, 2, 3].map((item) => add(item).catch((error: Error) => error.message));
  writes[0]?.fail(new Error("Query read timeout"));
  assert.deepEqual(
    await Promise.all(results),
    Array.from({ length: 3 }, () => "Query read timeout"),
  );
  assert.equal(writes.length, 1);
  const later = add(4);
  writes[1]?.end(["four"]);
  assert.equal(await later, "four");
});

test("a write that answers for fewer than it was given has failed", async () => {
  const { writes, write } = controlled();
  const result = writeTogether({ most: 1, write })(1);
  writes[0]?.end([]);
  await assert.rejects(result, /0 results of 1 writes/);
});
