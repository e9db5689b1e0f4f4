import type { Kysely, Transaction } from "kysely";

export interface Batches {
  rows?: number;
  most?: number;
  stopped?: AbortSignal;
}

/**
 * Does a batch after the other, each a statement of its own that can't take long, until one isn't full, enough is done for this
 * time, or the process stops. Answers how many rows it was in all.
 */
export async function inBatches(
  work: (rows: number) => Promise<number>,
  { rows = 1_000, most = 1_000, stopped }: Batches = {},
): Promise<number> {
  let all = 0;
  for (let batch = 0; batch < most; batch += 1) {
    const done = await work(rows);
    all += done;
    if (done < rows || stopped?.aborted === true) break;
  }
  return all;
}

/** The same for what takes several statements: each batch is a transaction, and they go on until one isn't full. */
export function inTransactions<Schema>(
  database: Kysely<Schema>,
  work: (transaction: Transaction<Schema>, rows: number) => Promise<number>,
): Promise<number> {
  const oneBatch = (rows: number): Promise<number> =>
    database.transaction().execute((transaction) => work(transaction, rows));
  return inBatches(oneBatch, { rows: 100, most: Infinity });
}
