import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { lockOrganisation } from "./organisation-store.ts";

/** Runs `work` in a transaction that holds the lock on the organisation's row, so that changes of one organisation are serialised. */
export async function withOrganisationLock<T>(
  { database }: { database: Kysely<DB> },
  alias: string,
  work: (transaction: Transaction<DB>) => Promise<T>,
): Promise<T> {
  return database.transaction().execute(async (transaction) => {
    await lockOrganisation(transaction, alias);
    return work(transaction);
  });
}
