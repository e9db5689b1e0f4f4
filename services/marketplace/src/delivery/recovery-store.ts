import { sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { headsOf, isRedelivery, outsideSequence, type QueuedDelivery } from "./queue-store.ts";
import { maxQueuedPerRecipient } from "./retry-schedule.ts";

/** Waiting deliveries that are the first of their subscription, after the given subscription. */
async function findWaitingHeads(
  transaction: Transaction<DB>,
  recipientId: string,
  limit: number,
  after?: string,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from ${headsOf(sql`${recipientId}::uuid`, after)} head where status = 'waiting' limit ${limit}`.execute(
    transaction,
  );
  return rows.map(({ id }) => id);
}

async function findWaitingOutside(transaction: Transaction<DB>, recipientId: string, limit: number): Promise<string[]> {
  // Deliveries that already have a job are skipped; no recipient has more than `maxQueuedPerRecipient` of them.
  const due = outsideSequence(sql`${recipientId}::uuid`, maxQueuedPerRecipient + limit);
  const { rows } = await sql<{ id: string }>`
    select id from ${due} due where status = 'waiting' limit ${limit}`.execute(transaction);
  return rows.map(({ id }) => id);
}

/** Waiting deliveries to this recipient that can be sent now, up to the limit. */
export async function findReady(transaction: Transaction<DB>, recipientId: string, limit: number): Promise<string[]> {
  const heads = await findWaitingHeads(transaction, recipientId, limit);
  const left = limit - heads.length;
  return left === 0 ? heads : [...heads, ...(await findWaitingOutside(transaction, recipientId, left))];
}

/**
 * Queues the deliveries that are still waiting. The caller has locked their recipient or origin; deliveries that another transaction has
 * locked are skipped, because waiting for them could deadlock.
 */
export async function queueWaiting(transaction: Transaction<DB>, ids: string[]): Promise<QueuedDelivery[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<QueuedDelivery>`
    with locked as materialized (
      select id, status from deliveries where id = any (${ids}::uuid[]) order by id for update skip locked
    )
    update deliveries set status = 'queued', next_attempt_at = null
    where id = any (array(select id from locked where status = 'waiting'))
    returning id, recipient_id, ${isRedelivery} as "isRedelivery"`.execute(transaction);
  return rows;
}

/** Of deliveries without an ordering key, only this many take turns as probes. */
const maxProbeCandidates = 100;

/**
 * Finds the next probe. Subscriptions take turns, then deliveries without an ordering key, so that one delivery that the recipient
 * can't process doesn't prevent its recovery.
 */
export async function findNextProbe(
  transaction: Transaction<DB>,
  { id: recipientId, probed_id: lastId }: { id: string; probed_id: string | null },
): Promise<string | undefined> {
  const subscriptionId = lastId === null ? undefined : await findSubscriptionOf(transaction, lastId);
  const [next] =
    subscriptionId === undefined ? [] : await findWaitingHeads(transaction, recipientId, 1, subscriptionId);
  if (next !== undefined) return next;
  const outside = (await findWaitingOutside(transaction, recipientId, maxProbeCandidates)).toSorted();
  const isNext = (id: string): boolean => lastId !== null && (subscriptionId !== undefined || id > lastId);
  const [first] = await findWaitingHeads(transaction, recipientId, 1);
  return outside.find(isNext) ?? first ?? outside[0];
}

async function findSubscriptionOf(transaction: Transaction<DB>, deliveryId: string): Promise<string | undefined> {
  const found = await transaction
    .selectFrom("deliveries")
    .select("subscription_id")
    .where("id", "=", deliveryId)
    .executeTakeFirst();
  return found?.subscription_id ?? undefined;
}

/** Counts the recipient's queued deliveries, up to the maximum. */
export async function countQueued(transaction: Transaction<DB>, recipientId: string): Promise<number> {
  const { rows } = await sql<{ queued: number }>`
    select count(*)::int as queued from (
      select from deliveries where recipient_id = ${recipientId} and status = 'queued' limit ${maxQueuedPerRecipient}
    ) counted`.execute(transaction);
  return rows[0]?.queued ?? 0;
}

/** Counts the queued deliveries of all EHRs with this callback origin, up to the maximum of one recipient. */
export async function countQueuedOfOrigin(transaction: Transaction<DB>, origin: string): Promise<number> {
  const { rows } = await sql<{ queued: number }>`
    select count(*)::int as queued from (
      select from deliveries d cross join lateral (
        select from organisations o where o.id = d.recipient_id and o.callback_origin = ${origin} limit 1
      ) o
      where d.status = 'queued' limit ${maxQueuedPerRecipient}
    ) counted`.execute(transaction);
  return rows[0]?.queued ?? 0;
}

/** The first waiting delivery of the next EHR with this callback origin and status, after the given one. */
export async function findOriginProbe(
  transaction: Transaction<DB>,
  origin: string,
  { status, after }: { status: "active" | "held"; after: string | undefined },
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select head.id from organisations o cross join lateral (
      select id from ${headsOf(sql`o.id`)} head where status = 'waiting' limit 1
    ) head
    where o.callback_origin = ${origin} ${after === undefined ? sql`` : sql`and o.id > ${after}::uuid`}
      and (select r.status from recipients r where r.id = o.id) = ${status}
    order by o.callback_origin, o.id limit 1`.execute(transaction);
  return rows[0]?.id;
}

export interface ReleasableRecipient {
  id: string;
  status: string;
  heldSince: Date | null;
  crowded: boolean;
  /** The waiting deliveries that can be sent now, up to the limit. */
  ready: string[];
}

/** EHRs with this callback origin and unsettled deliveries, in the order of their ids after the given one. */
export async function findReleasable(
  transaction: Transaction<DB>,
  origin: string,
  given: { after: string | undefined; limit: number; maxReady: number },
): Promise<ReleasableRecipient[]> {
  const { after, limit, maxReady } = given;
  const { rows } = await sql<ReleasableRecipient>`
    select o.id, r.status, r.crowded, r.held_since as "heldSince", array(
      select id from ${headsOf(sql`o.id`)} head where status = 'waiting' limit ${maxReady}
    ) as ready
    from organisations o
    cross join lateral (select from deliveries where recipient_id = o.id and settled_at is null limit 1) due
    cross join lateral (select status, crowded, held_since from recipients where id = o.id limit 1) r
    where o.callback_origin = ${origin} ${after === undefined ? sql`` : sql`and o.id > ${after}::uuid`}
    order by o.callback_origin, o.id limit ${limit}`.execute(transaction);
  return rows;
}
