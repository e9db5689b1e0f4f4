import { isDatabaseUnavailable } from "./database-unavailable.ts";

interface PendingWrite<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Batches concurrent writes. A single item is written immediately; items that arrive while writes are running are queued and written
 * in one batch, so that under load many share a statement and a commit. `write` returns one result per item, in the same order.
 */
export function createBatchWriter<Item, Result>(options: {
  maxBatchSize: number;
  maxConcurrentWrites?: number;
  write: (items: Item[]) => Promise<Result[]>;
}): (item: Item) => Promise<Result> {
  const queue: PendingWrite<Item, Result>[] = [];
  const { maxBatchSize, maxConcurrentWrites = 1 } = options;
  let running = 0;

  const drainQueue = async (): Promise<void> => {
    running += 1;
    while (queue.length > 0) {
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
