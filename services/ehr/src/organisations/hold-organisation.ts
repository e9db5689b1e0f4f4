import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { findAliasesAfter, findSecrets, lockOrganisation, updateOrganisation } from "./organisation-store.ts";

/** Until the transaction ends, nobody else changes what the organisation has. False: there is no such organisation. */
export async function holdOrganisation(transaction: Transaction<DB>, alias: string): Promise<boolean> {
  return (await lockOrganisation(transaction, alias)) !== undefined;
}

export async function isKnownOrganisation(database: Kysely<DB>, alias: string): Promise<boolean> {
  return (await findSecrets(database, alias)) !== undefined;
}

export async function noteReconciled(database: Kysely<DB>, alias: string, at: Date): Promise<void> {
  await updateOrganisation(database, alias, { reconciled_at: at });
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
