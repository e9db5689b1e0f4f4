import { type Selectable, sql, type Transaction } from "kysely";
import type { DB, SuspensionNoticeWalks } from "../database-schema.ts";

export type SuspensionWalk = Selectable<SuspensionNoticeWalks>;

/** There may be one of an earlier suspension, if a process of the previous version has reinstated the app. */
export async function upsertWalk(
  transaction: Transaction<DB>,
  walk: Pick<SuspensionWalk, "app_id" | "suspended_at">,
): Promise<void> {
  await sql`
    insert into suspension_notice_walks (app_id, suspended_at) values (${walk.app_id}, ${walk.suspended_at})
    on conflict (app_id) do update set suspended_at = excluded.suspended_at, cursor_at = null, cursor_id = null`.execute(
    transaction,
  );
}

/** Locks a walk that no other worker has, of an app whose subscriptions are not being paused. */
export async function lockWalk(
  transaction: Transaction<DB>,
  suspendedBefore: Date,
): Promise<SuspensionWalk | undefined> {
  const { rows } = await sql<SuspensionWalk>`
    select * from suspension_notice_walks walk
    where suspended_at <= ${suspendedBefore} and not exists (
      -- Literals, so that the planner can match the partial index.
      select from suspensions where app_id = walk.app_id and state <> 'ended' and state = 'pausing'
    )
    order by suspended_at limit 1 for update of walk skip locked`.execute(transaction);
  return rows[0];
}

export async function advanceWalk(
  transaction: Transaction<DB>,
  appId: string,
  cursor: { created_at: Date; id: string },
): Promise<void> {
  await transaction
    .updateTable("suspension_notice_walks")
    .set({ cursor_at: cursor.created_at, cursor_id: cursor.id })
    .where("app_id", "=", appId)
    .execute();
}

export async function deleteWalk(transaction: Transaction<DB>, appId: string): Promise<void> {
  await transaction.deleteFrom("suspension_notice_walks").where("app_id", "=", appId).execute();
}
