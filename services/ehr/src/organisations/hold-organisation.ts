import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import {
  findAliasesAfter,
  findLongestUnreconciled,
  findSecrets,
  lockOrganisation,
  updateOrganisation,
} from "./organisation-store.ts";

/** While this works, in a transaction that may send jobs, nobody else changes what the organisation has. */
export async function holdingOrganisation<T>(
  { database }: { database: Kysely<DB> },
  alias: string,
  work: (transaction: Transaction<DB>) => Promise<T>,
): Promise<T> {
  return database.transaction().execute(async (transaction) => {
    await lockOrganisation(transaction, alias);
    return work(transaction);
  });
}

export async function isKnownOrganisation(database: Kysely<DB>, alias: string): Promise<boolean> {
  return (await findSecrets(database, alias)) !== undefined;
}

export async function noteReconciled(database: Kysely<DB>, alias: string, at: Date): Promise<void> {
  await updateOrganisation(database, alias, { reconciled_at: at });
}

/** For how long the one that has waited longest waits. */
export async function longestUnreconciledMs(database: Kysely<DB>, now: Date): Promise<number> {
  const since = await findLongestUnreconciled(database);
  return since === undefined ? 0 : now.getTime() - since.getTime();
}

const page = 1_000;

/** Page by page, those that were not reconciled since then. */
export async function* organisationsToReconcile(database: Kysely<DB>, since: Date): AsyncGenerator<string[]> {
  for (let last = ""; ; ) {
    const aliases = await findAliasesAfter(database, last, since, page);
    if (aliases.length > 0) yield aliases;
    last = aliases.at(-1) ?? last;
    if (aliases.length < page) return;
  }
}
