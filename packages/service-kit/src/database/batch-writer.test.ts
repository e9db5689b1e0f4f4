import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { eventually } from "@ehr-marketplace/test-kit";
import { createBatchWriter } from "./batch-writer.ts";

function controlled() {
  const writes: { items: number[]; end: (results: string[]) => void; fail: (error: Error) => void }[] = [];
  const write = (items: number[]): Promise<string[]> =>
    new Promise((end, fail) => {
      writes.push({ items, end, fail });
    });
  return { writes, write };
}

test("writes a single item immediately, and items that arrive meanwhile in one batch, in order", async () => {
  const { writes, write } = controlled();
  const add = createBatchWriter({ maxBatchSize: 3, write });
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

test("a failed write rejects the items of its batch only", async () => {
  const { writes, write } = controlled();
  const add = createBatchWriter({ maxBatchSize: 2, write });
  const results = [1, 2, 3, 4].map((item) => add(item).catch((error: Error) => error.message));
  writes[0]?.end(["one"]);
  await results[0];
  writes[1]?.fail(new Error("wrong"));
  assert.deepEqual(await Promise.all(results.slice(0, 3)), ["one", "wrong", "wrong"]);
  writes[2]?.end(["four"]);
  assert.equal(await results[3], "four");
});

test("runs up to maxConcurrentWrites writes, and none waits for a slower one", async () => {
  const { writes, write } = controlled();
  const add = createBatchWriter({ maxBatchSize: 1, maxConcurrentWrites: 2, write });
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

test("rejects all queued items when the database is unavailable", async () => {
  const { writes, write } = controlled();
  const add = createBatchWriter({ maxBatchSize: 1, write });
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

test("rejects the batch when the write returns too few results", async () => {
  const { writes, write } = controlled();
  const result = createBatchWriter({ maxBatchSize: 1, write })(1);
  writes[0]?.end([]);
  await assert.rejects(result, /returned 0 results for 1 items/);
});

test("items that are added within the interval after a batch share the next one", async () => {
  const { writes, write } = controlled();
  // Long, because a stall of the process between the items must not end it.
  const add = createBatchWriter({ maxBatchSize: 10, minIntervalMs: 2_000, write });
  const first = add(1);
  writes[0]?.end(["one"]);
  await first;
  const later = [add(2)];
  await setImmediate();
  later.push(add(3));
  await eventually("the next batch is written", 30_000, () => writes.length === 2);
  assert.deepEqual(writes[1]?.items, [2, 3]);
  writes[1]?.end(["two", "three"]);
  assert.deepEqual(await Promise.all(later), ["two", "three"]);
});
