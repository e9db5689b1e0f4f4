import { executePrepared } from "@ehr-marketplace/service-kit/database";
import { type RawBuilder, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { maxQueuedPerRecipient } from "./retry-schedule.ts";

/** Locks the subscriptions of the ordering keys, always in the order of their ids. */
export async function lockOrderingKeys(transaction: Transaction<DB>, subscriptionIds: string[]): Promise<void> {
  if (subscriptionIds.length === 0) return;
  await sql`select from subscriptions where id = any (${subscriptionIds}::uuid[]) order by id for update`.execute(
    transaction,
  );
}

export interface QueuedDelivery {
  id: string;
  recipient_id: string;
  /** The delivery was settled before. */
  isRedelivery: boolean;
}
const isRedelivery = sql`deliveries.restarted_at is not null`;

/** Queues the first unsettled delivery of each ordering key, if it is waiting and its recipient is neither held nor disabled. */
export async function queueSuccessors(
  transaction: Transaction<DB>,
  orderingKeys: { subscriptionId: string; recipientId: string }[],
): Promise<QueuedDelivery[]> {
  if (orderingKeys.length === 0) return [];
  const subscriptions = orderingKeys.map((orderingKey) => orderingKey.subscriptionId);
  const recipients = orderingKeys.map((orderingKey) => orderingKey.recipientId);
  const statement = sql<QueuedDelivery>`
    with head as materialized (
      select due.id from unnest(${subscriptions}::uuid[], ${recipients}::uuid[]) as ordering_key (subscription_id, recipient_id)
      cross join lateral (
        select d.id from deliveries d
        where d.recipient_id = ordering_key.recipient_id and d.subscription_id = ordering_key.subscription_id and d.settled_at is null
        order by d.sequence limit 1
      ) due
    ), locked as materialized (
      -- By primary key only; the status is compared after locking, see 0008-delivery-indexes.sql
      select id, recipient_id, status from deliveries where id = any (array(select id from head)) order by id for update
    )
    update deliveries set status = 'queued', next_attempt_at = null where id = any (array(
      select id from locked
      where status = 'waiting'
        and (select s.status = 'active' and not s.origin_held from recipient_states s where s.id = locked.recipient_id)
    ))
    returning id, recipient_id, ${isRedelivery} as "isRedelivery"`;
  const { rows } = await executePrepared(transaction, "queue-successors", statement);
  return rows;
}

/**
 * The first due delivery of each of a recipient's subscriptions, in the order of the subscriptions' ids, after `after`. It steps from
 * one subscription to the next through the index, and reads only as many rows as its caller takes.
 */
export const headsOf = (recipientId: RawBuilder<unknown>, after?: string): RawBuilder<unknown> => sql`(
  with recursive head as (
    (
      select d.id, d.subscription_id, d.status, d.created_at from deliveries d
      where d.recipient_id = ${recipientId} and d.settled_at is null
        and ${after === undefined ? sql`d.subscription_id is not null` : sql`d.subscription_id > ${after}::uuid`}
      order by d.subscription_id, d.sequence limit 1
    )
    union all
    select next.* from head cross join lateral (
      select d.id, d.subscription_id, d.status, d.created_at from deliveries d
      where d.recipient_id = ${recipientId} and d.settled_at is null and d.subscription_id > head.subscription_id
      order by d.subscription_id, d.sequence limit 1
    ) next
  )
  select * from head
)`;

/** Unsettled deliveries without an ordering key. */
export const outsideSequence = (recipientId: RawBuilder<unknown>, limit: number): RawBuilder<unknown> => sql`(
  select d.id, d.status, d.created_at from deliveries d
  where d.recipient_id = ${recipientId} and d.settled_at is null and d.subscription_id is null
  order by d.subscription_id, d.sequence limit ${limit}
)`;

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

/** Queues the deliveries that are still waiting. The caller holds the recipient's row; rows that another transaction has locked are skipped, as waiting for them could deadlock. */
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

/**
 * Queues those of the deliveries that are the first of their ordering key, or have none. The caller's transaction has created or
 * reopened them as waiting, so this waits for no lock.
 */
export async function queueFirst(transaction: Transaction<DB>, ids: string[]): Promise<QueuedDelivery[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<QueuedDelivery>`
    update deliveries set status = 'queued'
    where id = any (${ids}::uuid[]) and (subscription_id is null or id = (
      select due.id from deliveries due
      where due.recipient_id = deliveries.recipient_id and due.subscription_id = deliveries.subscription_id
        and due.settled_at is null
      order by due.sequence limit 1
    ))
    returning id, recipient_id, ${isRedelivery} as "isRedelivery"`.execute(transaction);
  return rows;
}

/** Counts the recipient's queued deliveries, up to the maximum. */
export async function countQueued(transaction: Transaction<DB>, recipientId: string): Promise<number> {
  const { rows } = await sql<{ queued: number }>`
    select count(*)::int as queued from (
      select from deliveries where recipient_id = ${recipientId} and status = 'queued' limit ${maxQueuedPerRecipient}
    ) counted`.execute(transaction);
  return rows[0]?.queued ?? 0;
}

/** The first waiting delivery of the next EHR with this callback origin, after the given one. */
export async function findOriginProbe(
  transaction: Transaction<DB>,
  origin: string,
  after: string | undefined,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select head.id from organisations o cross join lateral (
      select id from ${headsOf(sql`o.id`)} head where status = 'waiting' limit 1
    ) head
    where o.callback_origin = ${origin} ${after === undefined ? sql`` : sql`and o.id > ${after}::uuid`}
    order by o.callback_origin, o.id limit 1`.execute(transaction);
  return rows[0]?.id;
}

export interface ReleasableRecipient {
  id: string;
  status: string;
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
    select o.id, r.status, r.crowded, array(
      select id from ${headsOf(sql`o.id`)} head where status = 'waiting' limit ${maxReady}
    ) as ready
    from organisations o
    cross join lateral (select from deliveries where recipient_id = o.id and settled_at is null limit 1) due
    cross join lateral (select status, crowded from recipients where id = o.id limit 1) r
    where o.callback_origin = ${origin} ${after === undefined ? sql`` : sql`and o.id > ${after}::uuid`}
    order by o.callback_origin, o.id limit ${limit}`.execute(transaction);
  return rows;
}
