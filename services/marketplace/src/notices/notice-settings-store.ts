import type { NoticeSettings } from "@ehr-marketplace/contracts";
import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";

const selectSettings = (database: Kysely<DB>, audience: string) =>
  database
    .selectFrom("notice_settings")
    .select(["email", "muted_kinds as mutedKinds"])
    .where("audience", "=", audience)
    .$castTo<NoticeSettings>();

export function findSettings(database: Kysely<DB>, audience: string): Promise<NoticeSettings | undefined> {
  return selectSettings(database, audience).executeTakeFirst();
}

/** So that there is a row to lock. */
export async function insertEmptySettings(transaction: Transaction<DB>, audience: string, at: Date): Promise<void> {
  await transaction
    .insertInto("notice_settings")
    .values({ audience, updated_at: at })
    .onConflict((conflict) => conflict.column("audience").doNothing())
    .execute();
}

export function lockSettings(transaction: Transaction<DB>, audience: string): Promise<NoticeSettings | undefined> {
  return selectSettings(transaction, audience).forUpdate().executeTakeFirst();
}

export async function updateSettings(
  transaction: Transaction<DB>,
  audience: string,
  { email, mutedKinds }: NoticeSettings,
  at: Date,
): Promise<void> {
  await transaction
    .updateTable("notice_settings")
    .set({ email, muted_kinds: mutedKinds, updated_at: at })
    .where("audience", "=", audience)
    .execute();
}

/** The alias of an organisation, or the slug of a vendor. */
export async function findAudienceName(
  database: Kysely<DB>,
  table: "organisations" | "vendors",
  id: string,
): Promise<string | undefined> {
  const name = table === "organisations" ? sql`alias` : sql`slug`;
  const { rows } = await sql<{ name: string }>`
    select ${name} as name from ${sql.table(table)} where id = ${id}`.execute(database);
  return rows[0]?.name;
}
