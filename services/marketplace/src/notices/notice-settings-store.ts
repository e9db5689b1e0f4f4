import type { NoticeSettingsDto } from "@ehr-marketplace/contracts";
import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";

const selectSettings = (database: Kysely<DB>, audience: string) =>
  database
    .selectFrom("notice_settings")
    .select([
      "email",
      "muted_kinds as mutedKinds",
      sql<boolean>`email is not null and email is not distinct from confirmed_email`.as("isConfirmed"),
    ])
    .where("audience", "=", audience)
    .$castTo<NoticeSettingsDto>();

export function findSettings(database: Kysely<DB>, audience: string): Promise<NoticeSettingsDto | undefined> {
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

export function lockSettings(transaction: Transaction<DB>, audience: string): Promise<NoticeSettingsDto | undefined> {
  return selectSettings(transaction, audience).forUpdate().executeTakeFirst();
}

export async function updateSettings(
  transaction: Transaction<DB>,
  audience: string,
  { email, mutedKinds, isConfirmed }: NoticeSettingsDto,
  at: Date,
): Promise<void> {
  await transaction
    .updateTable("notice_settings")
    .set({ email, confirmed_email: isConfirmed ? email : null, muted_kinds: mutedKinds, updated_at: at })
    .where("audience", "=", audience)
    .execute();
}

/** The alias and the name of an organisation, or the slug and the name of a vendor. */
export async function findAudienceNames(
  database: Kysely<DB>,
  table: "organisations" | "vendors",
  id: string,
): Promise<{ alias: string; name: string } | undefined> {
  const columns = table === "organisations" ? sql`alias, display_name as name` : sql`slug as alias, name`;
  const { rows } = await sql<{ alias: string; name: string }>`
    select ${columns} from ${sql.table(table)} where id = ${id}`.execute(database);
  return rows[0];
}
