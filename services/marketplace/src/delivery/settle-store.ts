import { executeDeferred, executePrepared } from "@ehr-marketplace/service-kit/database";
import { sql, type Transaction, type Updateable } from "kysely";
import type { DB, Deliveries } from "../database-schema.ts";
import { isUnsettled } from "./delivery-store.ts";

export interface ClosedAttempt {
  id: string;
  startedAt: Date;
  durationMs: number;
  outcome: "delivered" | "failed";
  statusCode: number | null;
  error: string | null;
  snippet: string | null;
  nextAttemptAt: Date | null;
}

/** The bounds on `started_at` limit the search to the partitions that hold the rows. */
export async function closeAttempts(transaction: Transaction<DB>, attempts: ClosedAttempt[]): Promise<void> {
  const times = attempts.map(({ startedAt }) => startedAt.getTime());
  const statement = sql`
    update delivery_attempts a set outcome = c.outcome, duration_ms = c.duration_ms, status_code = c.status_code,
      error = c.error, response_snippet = c.snippet, next_attempt_at = c.next_attempt_at
    from unnest(
      ${attempts.map((each) => each.id)}::uuid[], ${attempts.map((each) => each.startedAt)}::timestamptz[],
      ${attempts.map((each) => each.outcome)}::text[], ${attempts.map((each) => each.durationMs)}::integer[],
      ${attempts.map((each) => each.statusCode)}::integer[], ${attempts.map((each) => each.error)}::text[],
      ${attempts.map((each) => each.snippet)}::text[], ${attempts.map((each) => each.nextAttemptAt)}::timestamptz[]
    ) as c (id, started_at, outcome, duration_ms, status_code, error, snippet, next_attempt_at)
    -- An attempt is closed once: the response to an earlier commit may have been lost
    where a.id = c.id and a.started_at = c.started_at and a.outcome = 'unknown'
      and a.started_at between ${new Date(Math.min(...times))} and ${new Date(Math.max(...times))}`;
  await executeDeferred(transaction, "close-attempts", statement);
}

/** The deliveries whose latest attempt is the given one: no other worker has claimed them since. */
export async function findLatest(
  transaction: Transaction<DB>,
  attempts: { id: string; attempt: number }[],
): Promise<Set<string>> {
  const statement = sql<{ id: string }>`
    select d.id from unnest(${attempts.map(({ id }) => id)}::uuid[], ${attempts.map(({ attempt }) => attempt)}::integer[])
      as made (id, attempt)
    -- The limit forces a lookup by primary key; otherwise the planner may join the whole table
    cross join lateral (select id, attempts from deliveries where id = made.id limit 1) d
    where d.attempts = made.attempt`;
  const { rows } = await executePrepared(transaction, "find-latest", statement);
  return new Set(rows.map(({ id }) => id));
}

export async function markDelivered(transaction: Transaction<DB>, ids: string[], now: Date): Promise<void> {
  const statement = sql`
    update deliveries set status = 'delivered', settled_at = ${now}, next_attempt_at = null, worker_id = null
    where id = any (${ids}::uuid[]) and ${isUnsettled}`;
  await executeDeferred(transaction, "mark-delivered", statement);
}

/** A delivery that was dropped meanwhile, with its endpoint, stays dropped. */
export async function updateUnsettled(
  transaction: Transaction<DB>,
  id: string,
  columns: Updateable<Deliveries>,
): Promise<void> {
  await transaction
    .updateTable("deliveries")
    .set({ ...columns, worker_id: null })
    .where("id", "=", id)
    .where(isUnsettled)
    .execute();
}
