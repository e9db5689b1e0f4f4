import assert from "node:assert/strict";
import { test } from "node:test";
import { createTaskLimiter } from "./task-limiter.ts";

test("runs tasks up to the limit, queues others in order, and frees the slot of a failed task", async () => {
  const limiter = createTaskLimiter(2, 2);
  const began: number[] = [];
  const ends: ((failed?: Error) => void)[] = [];
  const run = (nth: number): Promise<string> =>
    limiter
      .run(() => {
        began.push(nth);
        return new Promise<void>((resolve, reject) => {
          ends[nth] = (failed) => (failed === undefined ? resolve() : reject(failed));
        });
      })
      .then(
        () => "done",
        (error: Error) => error.message,
      );
  const all = [0, 1, 2].map(run);
  assert.deepEqual([began, limiter.isFull()], [[0, 1], false]);
  all.push(run(3));
  assert.deepEqual([began, limiter.isFull()], [[0, 1], true]);
  ends[1]?.(new Error("failed"));
  assert.equal(await all[1], "failed");
  assert.deepEqual([began, limiter.isFull()], [[0, 1, 2], false]);
  ends[0]?.();
  await all[0];
  assert.deepEqual(began, [0, 1, 2, 3]);
  ends[2]?.();
  ends[3]?.();
  assert.deepEqual(await Promise.all(all), ["done", "failed", "done", "done"]);
});
