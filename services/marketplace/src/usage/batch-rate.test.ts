import assert from "node:assert/strict";
import { test } from "node:test";
import { type BatchRate, countBatch, maxBatchesPerSecond, msUntilNextSecond } from "./batch-rate.ts";

const at = (ms: number): Date => new Date(Date.UTC(2027, 3, 1) + ms);

test("20 batches are counted in a second, and others in the next one", () => {
  let rate: BatchRate | undefined;
  for (let nth = 0; nth < maxBatchesPerSecond; nth += 1) {
    rate = countBatch(rate, at(nth * 10));
    assert.ok(rate, `batch ${nth}`);
  }
  assert.equal(countBatch(rate, at(999)), undefined);
  assert.equal(msUntilNextSecond(rate ?? assert.fail(), at(999)), 1);
  assert.deepEqual(countBatch(rate, at(1_000)), { second: at(1_000), batches: 1 });
});

test("a process whose clock is behind counts toward the later second", () => {
  const ahead = countBatch(undefined, at(5_000));
  assert.deepEqual(countBatch(ahead, at(4_200)), { second: at(5_000), batches: 2 });
});
