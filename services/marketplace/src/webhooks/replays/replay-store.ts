import type { Slice } from "@ehr-marketplace/service-kit/http";
import { type Insertable, type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from "kysely";
import type { DB, Replays } from "../../database-schema.ts";
import { isSettled, type SettledDelivery } from "../delivery/delivery-store.ts";

export type ReplayRow = Selectable<Replays>;
export type Replayable = Pick<ReplayRow, "recipient_id" | "kind" | "from_at" | "to_at" | "cursor_at" | "cursor_id">;

// Written out, not handed over: only so does the planner see that the index of failures will do.
const failed = sql`status in ('failed', 'expired')`;

function toReplay({ recipient_id, kind, from_at, to_at, cursor_at, cursor_id }: Replayable): RawBuilder<unknown> {
  // One lower bound, never both: beside the other, the cursor would only filter what a search from the beginning finds.
  const begun = from_at === null ? sql`` : sql`and created_at >= ${from_at}`;
  const from = cursor_at === null ? begun : sql`and (created_at, id) > (${cursor_at}::timestamptz, ${cursor_id}::uuid)`;
  return sql`recipient_id = ${recipient_id} and ${kind === "failures" ? failed : isSettled} and created_at < ${to_at} ${from}`;
}

export async function insertReplay(transaction: Transaction<DB>, row: Insertable<Replays>): Promise<ReplayRow> {
  return transaction.insertInto("replays").values(row).returningAll().executeTakeFirstOrThrow();
}

export function findReplay(database: Kysely<DB>, id: string): Promise<ReplayRow | undefined> {
  return database.selectFrom("replays").selectAll().where("id", "=", id).executeTakeFirst();
}

export function lockReplay(transaction: Transaction<DB>, id: string): Promise<ReplayRow | undefined> {
  return transaction.selectFrom("replays").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
}

/** The newest first. */
export function findReplays(database: Kysely<DB>, recipientId: string, { after, limit }: Slice): Promise<ReplayRow[]> {
  let query = database.selectFrom("replays").selectAll().where("recipient_id", "=", recipientId);
  if (after !== undefined) {
    query = query.where(sql<boolean>`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)`);
  }
  return query.orderBy("created_at", "desc").orderBy("id", "desc").limit(limit).execute();
}

export function findRunning(database: Kysely<DB>, recipientId: string): Promise<ReplayRow | undefined> {
  return database
    .selectFrom("replays")
    .selectAll()
    .where("recipient_id", "=", recipientId)
    .where("status", "=", "running")
    .executeTakeFirst();
}

export function updateReplay(
  transaction: Transaction<DB>,
  id: string,
  changes: Partial<Pick<ReplayRow, "status" | "done" | "cursor_at" | "cursor_id">> & { updated_at: Date },
): Promise<ReplayRow> {
  return transaction.updateTable("replays").set(changes).where("id", "=", id).returningAll().executeTakeFirstOrThrow();
}

const countedExactly = 10_000;

/** Counting millions would keep the caller waiting: above ten thousand, what the planner thinks is good enough. */
export async function estimateTotal(database: Kysely<DB>, replay: Replayable): Promise<number> {
  const wanted = toReplay(replay);
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from deliveries where ${wanted} order by created_at, id limit ${countedExactly + 1}
    ) counted`.execute(database);
  const counted = rows[0]?.count ?? 0;
  if (counted <= countedExactly) return counted;
  const explained = await sql<{ "QUERY PLAN": [{ Plan: { "Plan Rows": number } }] }>`
    explain (format json) select from deliveries where ${wanted}`.execute(database);
  return Math.max(counted, Math.min(explained.rows[0]?.["QUERY PLAN"][0].Plan["Plan Rows"] ?? 0, 2_147_483_647));
}

/** The next behind the cursor, the oldest first: so the places of a lane come in their order. */
export async function findNext(database: Kysely<DB>, replay: Replayable, most: number): Promise<SettledDelivery[]> {
  const { rows } = await sql<SettledDelivery>`
    select id, subscription_id, created_at from deliveries
    where ${toReplay(replay)} order by created_at, id limit ${most}`.execute(database);
  return rows;
}

export interface Load {
  /** Could go out at this moment. */
  ready: number;
  /** Not over, whatever it waits for; counted no further than asked. */
  due: number;
}

export async function loadOf(database: Kysely<DB>, recipientId: string, now: Date, most: number): Promise<Load> {
  const { rows } = await sql<Load>`
    select count(*)::int as due,
      (count(*) filter (where status = 'queued' and coalesce(next_attempt_at, ${now}) <= ${now}))::int as ready
    from (
      select status, next_attempt_at from deliveries
      where recipient_id = ${recipientId} and settled_at is null limit ${most}
    ) counted`.execute(database);
  return rows[0] ?? { ready: 0, due: 0 };
}

/** Undefined where it is no vendor's endpoint. Until the commit nobody changes or deletes it. */
export function shareEndpoint(
  transaction: Transaction<DB>,
  id: string,
): Promise<{ deleted_at: Date | null } | undefined> {
  return transaction
    .selectFrom("webhook_endpoints")
    .select("deleted_at")
    .where("id", "=", id)
    .forShare()
    .executeTakeFirst();
}

export async function isActive(database: Kysely<DB>, recipientId: string): Promise<boolean> {
  const found = await database
    .selectFrom("recipients")
    .select("status")
    .where("id", "=", recipientId)
    .executeTakeFirst();
  return found?.status === "active";
}
