import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from "kysely";
import type { DB, Organisations } from "../database-schema.ts";

export type SecretRow = Pick<
  Selectable<Organisations>,
  "sealed_secret" | "sealed_previous_secret" | "previous_until" | "updated_at"
>;

const secretColumns = ["sealed_secret", "sealed_previous_secret", "previous_until", "updated_at"] as const;

export function findSecrets(database: Kysely<DB>, alias: string): Promise<SecretRow | undefined> {
  return database.selectFrom("organisations").select(secretColumns).where("alias", "=", alias).executeTakeFirst();
}

/** No key changes under this lock, so that rows which refer to the organisation need not wait for it. */
export function lockOrganisation(transaction: Transaction<DB>, alias: string): Promise<SecretRow | undefined> {
  return transaction
    .selectFrom("organisations")
    .select(secretColumns)
    .where("alias", "=", alias)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** False where another request was first. */
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

/** Those with anything that another version sealed, for whoever seals them anew. */
export function lockSealedOtherwise(transaction: Transaction<DB>, version: number, limit: number) {
  const otherwise = `${version}.%`;
  return transaction
    .selectFrom("organisations")
    .select(["alias", "sealed_secret", "sealed_previous_secret"])
    .where((is) =>
      is.or([is("sealed_secret", "not like", otherwise), is("sealed_previous_secret", "not like", otherwise)]),
    )
    .orderBy("alias")
    .limit(limit)
    .forNoKeyUpdate()
    .execute();
}

/** Locked first: one whose overlap is just being moved is left alone. */
export async function clearOverlapsUntil(database: Kysely<DB>, until: Date, most: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update organisations set sealed_previous_secret = null, previous_until = null where alias = any(array(
      select alias from organisations where previous_until <= ${until}
      order by previous_until limit ${most} for no key update skip locked
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
 * Counts one more catalog request of the organisation, by the generic cell rate algorithm, and returns until when its requests are used up. Undefined
 * where that would be later than `noLaterThan`; then nothing is counted.
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

/** False where it was noted since then. */
export async function noteQuarantineCheck(
  transaction: Transaction<DB>,
  alias: string,
  now: Date,
  since: Date,
): Promise<boolean> {
  const noted = await transaction
    .updateTable("organisations")
    .set({ quarantine_checked_at: now })
    .where("alias", "=", alias)
    .where((is) => is.or([is("quarantine_checked_at", "is", null), is("quarantine_checked_at", "<", since)]))
    .returning("alias")
    .execute();
  return noted.length > 0;
}

export async function sumUnlisted(database: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ unlisted: string }>`
    select coalesce(sum(unlisted), 0) as unlisted from organisations where unlisted > 0`.execute(database);
  return Number(rows[0]?.unlisted ?? 0);
}
