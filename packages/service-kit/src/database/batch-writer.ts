import { setTimeout as delay } from "node:timers/promises";
import { isDatabaseUnavailable } from "./database-unavailable.ts";

interface PendingWrite<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Batches concurrent writes. A single item is written immediately; items that arrive while writes are running are queued and written
 * in one batch, so that under load many share a statement and a commit. `write` returns one result per item, in the same order.
 * `minIntervalMs` is the least time between the beginnings of two batches, for each of the concurrent writes: it makes batches larger.
 */
export function createBatchWriter<Item, Result>(options: {
  maxBatchSize: number;
  maxConcurrentWrites?: number;
  minIntervalMs?: number;
  write: (items: Item[]) => Promise<Result[]>;
}): (item: Item) => Promise<Result> {
  const queue: PendingWrite<Item, Result>[] = [];
  const { maxBatchSize, maxConcurrentWrites = 1, minIntervalMs = 0 } = options;
  let running = 0;
  let nextAt = 0;

  const drainQueue = async (): Promise<void> => {
    running += 1;
    while (queue.length > 0) {
      const wait = nextAt - performance.now();
      if (wait > 0 && queue.length < maxBatchSize) await delay(wait);
      nextAt = performance.now() + minIntervalMs;
      const batch = queue.splice(0, maxBatchSize);
      try {
        const results = await options.write(batch.map(({ item }) => item));
        if (results.length !== batch.length)
          throw new Error(`write returned ${results.length} results for ${batch.length} items`);
        for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
      } catch (error) {
        // Queued items would fail the same way, each after the time-outs of the batches before it, so they fail now.
        const failed = isDatabaseUnavailable(error) ? [...batch, ...queue.splice(0)] : batch;
        for (const { reject } of failed) reject(error);
      }
    }
    running -= 1;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      queue.push({ item, resolve, reject });
      if (running < maxConcurrentWrites) void drainQueue();
    });
}
