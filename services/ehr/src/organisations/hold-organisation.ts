import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import {
  findAliasesAfter,
  findLongestUnreconciled,
  findSecrets,
  lockOrganisation,
  noteQuarantineCheck,
  sumUnlisted,
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

/** With how many live subscriptions the marketplace's list lacks. */
export async function noteReconciled(
  database: Kysely<DB>,
  alias: string,
  reconciled: { at: Date; unlisted: number },
): Promise<void> {
  await updateOrganisation(database, alias, { reconciled_at: reconciled.at, unlisted: reconciled.unlisted });
}

/** Of all organisations, as of their last reconciliation. */
export const countUnlisted = (database: Kysely<DB>): Promise<number> => sumUnlisted(database);

const quarantineCheckEveryMs = 300_000;

/** How long to wait before the organisation's list is requested because of quarantined subscriptions: once in five minutes. */
export async function secondsUntilQuarantineCheck(
  transaction: Transaction<DB>,
  alias: string,
  now: Date,
): Promise<number> {
  const since = new Date(now.getTime() - quarantineCheckEveryMs);
  return (await noteQuarantineCheck(transaction, alias, now, since)) ? 0 : quarantineCheckEveryMs / 1_000;
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
