import type { PageSlice } from "@ehr-marketplace/service-kit/http";
import { type Insertable, type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from "kysely";
import type { DB, Replays } from "../database-schema.ts";
import type { SettledDelivery } from "../delivery/delivery.ts";

export type ReplayRow = Selectable<Replays>;
export type Replayable = Pick<ReplayRow, "recipient_id" | "kind" | "from_at" | "to_at" | "cursor_at" | "cursor_id">;

/** The fields of an endpoint that a replay of a range needs. */
export interface ReplayEndpoint {
  vendor_id: string;
  /** Names of the events that it selects. */
  events: string[];
}

// One lower bound, never both: with two, PostgreSQL starts the index scan at the first and filters by the cursor.
function behindCursor({ from_at, cursor_at, cursor_id }: Replayable, time: string, id: string): RawBuilder<unknown> {
  if (cursor_at !== null) {
    return sql`and (${sql.ref(time)}, ${sql.ref(id)}) > (${cursor_at}::timestamptz, ${cursor_id}::uuid)`;
  }
  return from_at === null ? sql`` : sql`and ${sql.ref(time)} >= ${from_at}`;
}

/** The deliveries of a replay of failures. The statuses are literals, so that the planner can use the partial index. */
const failuresIn = (replay: Replayable): RawBuilder<unknown> => sql`
  recipient_id = ${replay.recipient_id} and status in ('failed', 'expired') and created_at < ${replay.to_at}
  ${behindCursor(replay, "created_at", "id")}`;

/** The events of a replay of a range: all of the vendor's, whether or not the endpoint has a delivery of them. */
const eventsIn = (replay: Replayable, { vendor_id }: ReplayEndpoint): RawBuilder<unknown> => sql`
  vendor_id = ${vendor_id} and occurred_at < ${replay.to_at} ${behindCursor(replay, "occurred_at", "id")}`;

export interface PastEvent {
  event_id: string;
  occurred_at: Date;
  subscription_id: string | null;
  /** Null when the endpoint has no delivery of the event. */
  delivery_id: string | null;
  /** True when the delivery is settled, or when there is none and the endpoint selects the event. Pings of other endpoints are excluded. */
  sendable: boolean;
}

// A lateral join looks up the deliveries of one event, by the event alone (`offset 0`): where the planner thinks that the endpoint
// has few deliveries, it would otherwise read all of them for each event.
const pastEvents = (replay: Replayable, endpoint: ReplayEndpoint, limit: number): RawBuilder<PastEvent> => sql`
  select e.id as event_id, e.occurred_at, case when e.sequence is not null then e.subscription_id end as subscription_id,
    d.id as delivery_id,
    case when d.id is null then e.event = any (${endpoint.events}::text[]) and e.event <> 'ping'
      else d.status in ('delivered', 'failed', 'expired') end as sendable
  from (
    select id, event, occurred_at, subscription_id, sequence from events
    where ${eventsIn(replay, endpoint)} order by occurred_at, id limit ${sql.lit(limit)}
  ) e
  left join lateral (
    select id, status from (select id, status, recipient_id from deliveries where event_id = e.id offset 0) of_event
    where recipient_id = ${replay.recipient_id} limit 1
  ) d on true`;

/** Makes the planner read the first rows from the ordered index until the commit, instead of sorting all rows. */
const readInOrder = (transaction: Transaction<DB>) => sql`set local enable_bitmapscan = off`.execute(transaction);

export async function insertReplay(transaction: Transaction<DB>, row: Insertable<Replays>): Promise<ReplayRow> {
  return transaction.insertInto("replays").values(row).returningAll().executeTakeFirstOrThrow();
}

export function findReplay(database: Kysely<DB>, id: string): Promise<ReplayRow | undefined> {
  return database.selectFrom("replays").selectAll().where("id", "=", id).executeTakeFirst();
}

export function lockReplay(transaction: Transaction<DB>, id: string): Promise<ReplayRow | undefined> {
  return transaction.selectFrom("replays").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
}

/** Newest first. */
export function findReplays(
  database: Kysely<DB>,
  recipientId: string,
  { after, limit }: PageSlice,
): Promise<ReplayRow[]> {
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

const maxExactCount = 10_000;

/** Counts up to ten thousand exactly, and uses the planner's estimate above that: counting millions would be too slow for a request. */
export async function estimateTotal(
  transaction: Transaction<DB>,
  replay: Replayable,
  endpoint: ReplayEndpoint,
): Promise<number> {
  await readInOrder(transaction);
  const ofFailures = replay.kind === "failures";
  const limit = maxExactCount + 1;
  const { rows } = await sql<{ seen: number; sendable: number }>`
    select count(*)::int as seen, (count(*) filter (where sendable))::int as sendable from (${
      ofFailures
        ? sql`select true as sendable from deliveries where ${failuresIn(replay)} order by created_at, id limit ${limit}`
        : pastEvents(replay, endpoint, limit)
    }) counted`.execute(transaction);
  const { seen, sendable } = rows[0] ?? { seen: 0, sendable: 0 };
  if (seen <= maxExactCount) return sendable;
  const all = ofFailures
    ? sql`deliveries where ${failuresIn(replay)}`
    : sql`events where ${eventsIn(replay, endpoint)}`;
  const explained = await sql<{ "QUERY PLAN": [{ Plan: { "Plan Rows": number } }] }>`
    explain (format json) select from ${all}`.execute(transaction);
  const estimate = Math.round(((explained.rows[0]?.["QUERY PLAN"][0].Plan["Plan Rows"] ?? 0) * sendable) / seen);
  return Math.max(sendable, Math.min(estimate, 2_147_483_647));
}

/** The next failures after the cursor, oldest first, so that a subscription's deliveries keep their order. */
export async function findFailures(
  transaction: Transaction<DB>,
  replay: Replayable,
  limit: number,
): Promise<SettledDelivery[]> {
  await readInOrder(transaction);
  const { rows } = await sql<SettledDelivery>`
    select id, subscription_id, created_at from deliveries
    where ${failuresIn(replay)} order by created_at, id limit ${limit}`.execute(transaction);
  return rows;
}

/** The next events after the cursor, oldest first, including those that are not sendable. */
export async function findPastEvents(
  transaction: Transaction<DB>,
  replay: Replayable,
  endpoint: ReplayEndpoint,
  limit: number,
): Promise<PastEvent[]> {
  await readInOrder(transaction);
  const { rows } = await sql<PastEvent>`${pastEvents(replay, endpoint, limit)} order by e.occurred_at, e.id`.execute(
    transaction,
  );
  return rows;
}

export interface Load {
  /** Queued, and not waiting for a retry. */
  ready: number;
  /** Unsettled, counted up to the limit. */
  due: number;
}

export async function readLoad(database: Kysely<DB>, recipientId: string, now: Date, limit: number): Promise<Load> {
  const { rows } = await sql<Load>`
    select count(*)::int as due,
      (count(*) filter (where status = 'queued' and coalesce(next_attempt_at, ${now}) <= ${now}))::int as ready
    from (
      select status, next_attempt_at from deliveries
      where recipient_id = ${recipientId} and settled_at is null limit ${limit}
    ) counted`.execute(database);
  return rows[0] ?? { ready: 0, due: 0 };
}

/** Keeps the endpoint from being changed or deleted until the commit. */
export function lockEndpointForShare(
  transaction: Transaction<DB>,
  id: string,
): Promise<(ReplayEndpoint & { deleted_at: Date | null }) | undefined> {
  return transaction
    .selectFrom("webhook_endpoints")
    .select(["vendor_id", "events", "deleted_at"])
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
