import type { NoticeKind, NoticeSettings } from "@ehr-marketplace/contracts";
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

export function lockSettings(transaction: Transaction<DB>, audience: string): Promise<NoticeSettings> {
  return selectSettings(transaction, audience).forUpdate().executeTakeFirstOrThrow();
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

/** Those that are muted already stay so. */
export async function muteKinds(database: Kysely<DB>, audience: string, kinds: NoticeKind[], at: Date): Promise<void> {
  await sql`
    update notice_settings set updated_at = ${at},
      muted_kinds = array(select distinct kind from unnest(muted_kinds || ${kinds}::text[]) as kind order by kind)
    where audience = ${audience} and not muted_kinds @> ${kinds}::text[]`.execute(database);
}
