import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from "kysely";
import type { DB, Suspensions } from "../database-schema.ts";
import { hasJob, suspensions } from "../queue/queues.ts";

export type SuspensionState = "pausing" | "paused" | "resuming" | "ended";
export type SuspensionRow = Omit<Selectable<Suspensions>, "state"> & { state: SuspensionState };

// A literal, not a parameter, so that the planner can match the partial index.
const isOpen = sql<boolean>`state <> 'ended'`;

/** The app's suspension that has not ended. */
const currentOf = (database: Kysely<DB>, appId: string) =>
  database.selectFrom("suspensions").selectAll().where("app_id", "=", appId).where(isOpen).$castTo<SuspensionRow>();

export function findCurrent(database: Kysely<DB>, appId: string): Promise<SuspensionRow | undefined> {
  return currentOf(database, appId).executeTakeFirst();
}

export function lockCurrent(transaction: Transaction<DB>, appId: string): Promise<SuspensionRow | undefined> {
  return currentOf(transaction, appId).forUpdate().executeTakeFirst();
}

export function lockSuspension(
  transaction: Transaction<DB>,
  id: string,
): Promise<(SuspensionRow & { vendor_id: string; slug: string }) | undefined> {
  return transaction
    .selectFrom("suspensions")
    .innerJoin("listings", "listings.app_id", "suspensions.app_id")
    .selectAll("suspensions")
    .select(["listings.vendor_id", "listings.slug"])
    .where("suspensions.id", "=", id)
    .forUpdate("suspensions")
    .$castTo<SuspensionRow & { vendor_id: string; slug: string }>()
    .executeTakeFirst();
}

export async function insertSuspension(transaction: Transaction<DB>, row: Insertable<Suspensions>): Promise<void> {
  await transaction.insertInto("suspensions").values(row).execute();
}

export async function updateSuspension(
  transaction: Transaction<DB>,
  id: string,
  changes: Omit<Updateable<Suspensions>, "id" | "app_id" | "state"> & { state?: SuspensionState; updated_at: Date },
): Promise<void> {
  await transaction.updateTable("suspensions").set(changes).where("id", "=", id).execute();
}

/**
 * Whether a transaction of this service is in progress that started longer ago than `ageMs`. PostgreSQL shows those of roles that this one
 * is a member of, and none if `track_activities` is off.
 */
export async function hasTransactionOlderThan(transaction: Transaction<DB>, ageMs: number): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and xact_start < clock_timestamp() - ${ageMs} * interval '1 millisecond'
    ) as found`.execute(transaction);
  return rows[0]?.found ?? false;
}

/** Suspensions that have work to do and no job for it. */
export async function findWithoutJob(transaction: Transaction<DB>, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from suspensions s
    where ${isOpen} and state in ('pausing', 'resuming') and ${hasJob(suspensions, sql`s.id`)} is null
    order by id limit ${limit} for update skip locked`.execute(transaction);
  return rows.map(({ id }) => id);
}
