import type { Kysely, Transaction } from "kysely";

export interface BatchOptions {
  batchSize?: number;
  maxBatches?: number;
  stopped?: AbortSignal;
}

/**
 * Runs batches one after another until a batch isn't full, `maxBatches` have run, or `stopped` aborts. Each batch is a statement
 * of its own, so none takes long. Returns the total number of rows.
 */
export async function runInBatches(
  work: (rows: number) => Promise<number>,
  { batchSize = 1_000, maxBatches = 1_000, stopped }: BatchOptions = {},
): Promise<number> {
  let total = 0;
  for (let batch = 0; batch < maxBatches; batch += 1) {
    const done = await work(batchSize);
    total += done;
    if (done < batchSize || stopped?.aborted === true) break;
  }
  return total;
}

/** As `runInBatches`, for work of several statements: each batch is a transaction. Stops at the first batch that isn't full. */
export function runInTransactions<Schema>(
  database: Kysely<Schema>,
  work: (transaction: Transaction<Schema>, rows: number) => Promise<number>,
): Promise<number> {
  const runBatch = (rows: number): Promise<number> =>
    database.transaction().execute((transaction) => work(transaction, rows));
  return runInBatches(runBatch, { batchSize: 100, maxBatches: Infinity });
}
