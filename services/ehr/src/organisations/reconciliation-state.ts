import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import {
  claimQuarantineCheck,
  findAliasesAfter,
  findLastReconciled,
  findLongestUnreconciled,
  findSecrets,
  sumUnlisted,
  updateOrganisation,
} from "./organisation-store.ts";

export async function isKnownOrganisation(database: Kysely<DB>, alias: string): Promise<boolean> {
  return (await findSecrets(database, alias)) !== undefined;
}

/** `unlisted` is the number of live subscriptions that the marketplace's list lacks. */
export async function recordReconciliation(
  database: Kysely<DB>,
  alias: string,
  reconciled: { at: Date; unlisted: number },
): Promise<void> {
  await updateOrganisation(database, alias, { reconciled_at: reconciled.at, unlisted: reconciled.unlisted });
}

/** The total over all organisations, as of their last reconciliation. */
export const countUnlisted = (database: Kysely<DB>): Promise<number> => sumUnlisted(database);

const quarantineCheckEveryMs = 300_000;

/** The delay before the organisation's list is requested because of quarantined subscriptions: at most once in five minutes. */
export async function secondsUntilQuarantineCheck(
  transaction: Transaction<DB>,
  alias: string,
  now: Date,
): Promise<number> {
  const since = new Date(now.getTime() - quarantineCheckEveryMs);
  return (await claimQuarantineCheck(transaction, alias, now, since)) ? 0 : quarantineCheckEveryMs / 1_000;
}

/** The time since the least recently reconciled organisation was reconciled or created. */
export async function longestUnreconciledMs(database: Kysely<DB>, now: Date): Promise<number> {
  const since = await findLongestUnreconciled(database);
  return since === undefined ? 0 : now.getTime() - since.getTime();
}

/** One that the marketplace knows, if one was reconciled lately. */
export const findReconciledOrganisation = (database: Kysely<DB>): Promise<string | undefined> =>
  findLastReconciled(database);

const pageSize = 1_000;

/** Yields pages of organisations that were not reconciled since then. */
export async function* listOrganisationsToReconcile(database: Kysely<DB>, since: Date): AsyncGenerator<string[]> {
  for (let last = ""; ; ) {
    const aliases = await findAliasesAfter(database, last, since, pageSize);
    if (aliases.length > 0) yield aliases;
    last = aliases.at(-1) ?? last;
    if (aliases.length < pageSize) return;
  }
}
