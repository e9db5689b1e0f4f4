import { type Kysely, type Selectable, sql, type Transaction } from "kysely";
import type { DB, ScopeNoticeWalks } from "../database-schema.ts";

export type ScopeWalk = Selectable<ScopeNoticeWalks>;

/** A later publication starts the walk anew. */
export async function upsertWalk(
  transaction: Transaction<DB>,
  walk: Pick<ScopeWalk, "app_id" | "revision" | "published_at">,
): Promise<void> {
  await sql`
    insert into scope_notice_walks (app_id, revision, published_at)
    values (${walk.app_id}, ${walk.revision}, ${walk.published_at})
    on conflict (app_id) do update set revision = excluded.revision, published_at = excluded.published_at,
      cursor_at = null, cursor_id = null`.execute(transaction);
}

/** Locks a walk that no other worker has. */
export async function lockWalk(transaction: Transaction<DB>, publishedBefore: Date): Promise<ScopeWalk | undefined> {
  const { rows } = await sql<ScopeWalk>`
    select * from scope_notice_walks where published_at <= ${publishedBefore}
    order by published_at limit 1 for update skip locked`.execute(transaction);
  return rows[0];
}

export async function advanceWalk(
  transaction: Transaction<DB>,
  appId: string,
  cursor: { created_at: Date; id: string },
): Promise<void> {
  await transaction
    .updateTable("scope_notice_walks")
    .set({ cursor_at: cursor.created_at, cursor_id: cursor.id })
    .where("app_id", "=", appId)
    .execute();
}

export async function deleteWalk(transaction: Kysely<DB>, appId: string): Promise<void> {
  await transaction.deleteFrom("scope_notice_walks").where("app_id", "=", appId).execute();
}
