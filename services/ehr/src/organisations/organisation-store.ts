import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from "kysely";
import type { DB, Organisations } from "../database-schema.ts";

export type SecretRow = Pick<
  Selectable<Organisations>,
  "encrypted_secret" | "encrypted_previous_secret" | "previous_until" | "updated_at"
>;

const secretColumns = ["encrypted_secret", "encrypted_previous_secret", "previous_until", "updated_at"] as const;

export function findSecrets(database: Kysely<DB>, alias: string): Promise<SecretRow | undefined> {
  return database.selectFrom("organisations").select(secretColumns).where("alias", "=", alias).executeTakeFirst();
}

/** Locks with `for no key update`, so that inserts which refer to the organisation don't wait. */
export function lockOrganisation(transaction: Transaction<DB>, alias: string): Promise<SecretRow | undefined> {
  return transaction
    .selectFrom("organisations")
    .select(secretColumns)
    .where("alias", "=", alias)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Returns false if the organisation exists. */
export async function insertOrganisation(
  transaction: Transaction<DB>,
  row: Insertable<Organisations>,
): Promise<boolean> {
  const inserted = await transaction
    .insertInto("organisations")
    .values(row)
    .onConflict((conflict) => conflict.column("alias").doNothing())
    .returning("alias")
    .execute();
  return inserted.length === 1;
}

export async function updateOrganisation(
  database: Kysely<DB>,
  alias: string,
  changes: Updateable<Organisations>,
): Promise<void> {
  await database.updateTable("organisations").set(changes).where("alias", "=", alias).execute();
}

/** Locks those of these organisations that exist, always in the order of their aliases. */
export async function lockOrganisations(
  transaction: Transaction<DB>,
  aliases: string[],
): Promise<(SecretRow & { alias: string })[]> {
  if (aliases.length === 0) return [];
  const { rows } = await sql<SecretRow & { alias: string }>`
    select alias, encrypted_secret, encrypted_previous_secret, previous_until, updated_at from organisations
    where alias = any (${aliases}::text[]) order by alias for no key update`.execute(transaction);
  return rows;
}

/**
 * Returns the aliases of the inserted rows; the other organisations exist already. Call it before `lockOrganisations`. Both take their locks in
 * the order of the aliases, so that two imports of the same organisations can't deadlock.
 */
export async function insertOrganisations(
  transaction: Transaction<DB>,
  rows: { alias: string; encrypted_secret: string }[],
  now: Date,
): Promise<string[]> {
  if (rows.length === 0) return [];
  const aliases = rows.map(({ alias }) => alias);
  const secrets = rows.map(({ encrypted_secret }) => encrypted_secret);
  const inserted = await sql<{ alias: string }>`
    insert into organisations (alias, encrypted_secret, created_at, updated_at)
    select alias, encrypted_secret, ${now}::timestamptz, ${now}::timestamptz
    from unnest(${aliases}::text[], ${secrets}::text[]) as given(alias, encrypted_secret) order by alias
    on conflict (alias) do nothing returning alias`.execute(transaction);
  return inserted.rows.map(({ alias }) => alias);
}

/** Replaces the secrets of these organisations. */
export async function updateSecrets(
  transaction: Transaction<DB>,
  rows: (SecretRow & { alias: string })[],
): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    update organisations set encrypted_secret = given.encrypted_secret,
      encrypted_previous_secret = given.encrypted_previous_secret, previous_until = given.previous_until,
      updated_at = given.updated_at
    from json_to_recordset(${JSON.stringify(rows)}::json) as given(alias text, encrypted_secret text,
      encrypted_previous_secret text, previous_until timestamptz, updated_at timestamptz)
    where organisations.alias = given.alias`.execute(transaction);
}

export async function findAliasesAfter(
  database: Kysely<DB>,
  alias: string,
  reconciledBefore: Date,
  limit: number,
): Promise<string[]> {
  const rows = await database
    .selectFrom("organisations")
    .select("alias")
    .where("alias", ">", alias)
    .where((is) => is.or([is("reconciled_at", "is", null), is("reconciled_at", "<", reconciledBefore)]))
    .orderBy("alias")
    .limit(limit)
    .execute();
  return rows.map((row) => row.alias);
}

export async function findLongestUnreconciled(database: Kysely<DB>): Promise<Date | undefined> {
  const row = await database
    .selectFrom("organisations")
    .select((is) => is.fn.coalesce("reconciled_at", "created_at").as("since"))
    .orderBy("since")
    .limit(1)
    .executeTakeFirst();
  return row?.since;
}

/** One of the hundred that were reconciled or created last, by the index of `findLongestUnreconciled`. */
export async function findLastReconciled(database: Kysely<DB>): Promise<string | undefined> {
  const { rows } = await sql<{ alias: string }>`
    select alias from (
      select alias, reconciled_at from organisations order by coalesce(reconciled_at, created_at) desc limit 100
    ) last
    where reconciled_at is not null order by reconciled_at desc limit 1`.execute(database);
  return rows[0]?.alias;
}

/** Locks organisations with a secret that is encrypted with another key version. */
export function lockSecretsToReencrypt(transaction: Transaction<DB>, version: number, limit: number) {
  const currentPattern = `${version}.%`;
  return transaction
    .selectFrom("organisations")
    .select(["alias", "encrypted_secret", "encrypted_previous_secret"])
    .where((is) =>
      is.or([
        is("encrypted_secret", "not like", currentPattern),
        is("encrypted_previous_secret", "not like", currentPattern),
      ]),
    )
    .orderBy("alias")
    .limit(limit)
    .forNoKeyUpdate()
    .execute();
}

/** Skips locked rows: their overlap is being changed. */
export async function clearExpiredPreviousSecrets(database: Kysely<DB>, now: Date, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update organisations set encrypted_previous_secret = null, previous_until = null where alias = any(array(
      select alias from organisations where previous_until <= ${now}
      order by previous_until limit ${limit} for no key update skip locked
    ))`.execute(database);
  return Number(numAffectedRows);
}

export async function findAppFetchesUntil(database: Kysely<DB>, alias: string): Promise<Date | undefined> {
  const row = await database
    .selectFrom("organisations")
    .select("app_fetches_until")
    .where("alias", "=", alias)
    .executeTakeFirst();
  return row?.app_fetches_until ?? undefined;
}

/**
 * Counts one catalog request of the organisation, by the generic cell rate algorithm, and returns the time until which its requests are used
 * up. Undefined if that would be later than `noLaterThan`; then nothing is counted.
 */
export async function advanceAppFetches(
  database: Kysely<DB>,
  alias: string,
  { now, intervalMs, noLaterThan }: { now: Date; intervalMs: number; noLaterThan: Date },
): Promise<Date | undefined> {
  const next = sql<Date>`greatest(app_fetches_until, ${now}::timestamptz) + ${intervalMs} * interval '1 ms'`;
  const row = await database
    .updateTable("organisations")
    .set({ app_fetches_until: next })
    .where("alias", "=", alias)
    .where(sql<boolean>`${next} <= ${noLaterThan}::timestamptz`)
    .returning("app_fetches_until")
    .executeTakeFirst();
  return row?.app_fetches_until ?? undefined;
}

/** Sets the time of the check; returns false if one was made since then. */
export async function claimQuarantineCheck(
  transaction: Transaction<DB>,
  alias: string,
  now: Date,
  since: Date,
): Promise<boolean> {
  const claimed = await transaction
    .updateTable("organisations")
    .set({ quarantine_checked_at: now })
    .where("alias", "=", alias)
    .where((is) => is.or([is("quarantine_checked_at", "is", null), is("quarantine_checked_at", "<", since)]))
    .returning("alias")
    .execute();
  return claimed.length > 0;
}

export async function sumUnlisted(database: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ unlisted: string }>`
    select coalesce(sum(unlisted), 0) as unlisted from organisations where unlisted > 0`.execute(database);
  return Number(rows[0]?.unlisted ?? 0);
}
