import type { Kysely, Transaction } from "kysely";

const batch = 100;

/** Does a batch after the other, each in its own transaction, until one isn't full; answers how many were done in all. */
export async function inBatches<Schema>(
  database: Kysely<Schema>,
  work: (transaction: Transaction<Schema>, most: number) => Promise<number>,
): Promise<number> {
  for (let all = 0; ; ) {
    const done = await database.transaction().execute((transaction) => work(transaction, batch));
    all += done;
    if (done < batch) return all;
  }
}
