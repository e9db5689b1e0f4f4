import { type RawBuilder, sql, type Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";
import { mostQueued } from "./retry-schedule.ts";

/** The lanes' locks, always taken in the same order. */
export async function lockLanes(transaction: Transaction<DB>, subscriptionIds: string[]): Promise<void> {
  if (subscriptionIds.length === 0) return;
  await sql`select from subscriptions where id = any (${subscriptionIds}::uuid[]) order by id for update`.execute(
    transaction,
  );
}

export interface QueuedDelivery {
  id: string;
  recipient_id: string;
  /** It has been settled before. */
  again: boolean;
}
const isAgain = sql`deliveries.begun_anew_at is not null`;

/** The first that waits for each of these ordering keys is queued, where nothing is under way before it and its recipient is active. */
export async function queueSuccessors(
  transaction: Transaction<DB>,
  lanes: { subscriptionId: string; recipientId: string }[],
): Promise<QueuedDelivery[]> {
  if (lanes.length === 0) return [];
  const subscriptions = lanes.map((lane) => lane.subscriptionId);
  const recipients = lanes.map((lane) => lane.recipientId);
  const { rows } = await sql<QueuedDelivery>`/* planned once: queue-successors */
    with head as materialized (
      select due.id from unnest(${subscriptions}::uuid[], ${recipients}::uuid[]) as lane (subscription_id, recipient_id)
      cross join lateral (
        select d.id from deliveries d
        where d.recipient_id = lane.recipient_id and d.subscription_id = lane.subscription_id and d.settled_at is null
        order by d.sequence limit 1
      ) due
    ), locked as materialized (
      -- By the primary key alone, and its status is compared once it is locked: see 0008-delivery-indexes.sql
      select id, recipient_id, status from deliveries where id = any (array(select id from head)) order by id for update
    )
    update deliveries set status = 'queued', next_attempt_at = null where id = any (array(
      select id from locked
      where status = 'waiting' and (select r.status from recipients r where r.id = locked.recipient_id) = 'active'
    ))
    returning id, recipient_id, ${isAgain} as again`.execute(transaction);
  return rows;
}

/**
 * The first due delivery of each of a recipient's subscriptions, in the order of their ids, from behind `after` on. It steps from one
 * subscription to the next through the index, and reads no further than its caller takes rows.
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

/** Due deliveries outside any sequence: nothing keeps them waiting but their recipient. */
export const outsideSequence = (recipientId: RawBuilder<unknown>, most: number): RawBuilder<unknown> => sql`(
  select d.id, d.status, d.created_at from deliveries d
  where d.recipient_id = ${recipientId} and d.settled_at is null and d.subscription_id is null
  order by d.subscription_id, d.sequence limit ${most}
)`;

/** So many that wait for this recipient as the first of their subscription, from behind that subscription on. */
async function findWaitingHeads(
  transaction: Transaction<DB>,
  recipientId: string,
  most: number,
  after?: string,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from ${headsOf(sql`${recipientId}::uuid`, after)} head where status = 'waiting' limit ${most}`.execute(
    transaction,
  );
  return rows.map(({ id }) => id);
}

async function findWaitingOutside(transaction: Transaction<DB>, recipientId: string, most: number): Promise<string[]> {
  // Those that have a job already are passed over; no recipient has more of them than this.
  const due = outsideSequence(sql`${recipientId}::uuid`, mostQueued + most);
  const { rows } = await sql<{ id: string }>`
    select id from ${due} due where status = 'waiting' limit ${most}`.execute(transaction);
  return rows.map(({ id }) => id);
}

/** So many that wait for this recipient and could go out now. */
export async function findReady(transaction: Transaction<DB>, recipientId: string, most: number): Promise<string[]> {
  const heads = await findWaitingHeads(transaction, recipientId, most);
  const left = most - heads.length;
  return left === 0 ? heads : [...heads, ...(await findWaitingOutside(transaction, recipientId, left))];
}

/** Those of these that still wait are queued. What another transaction has locked is left to it: its caller holds the recipient's row. */
export async function queueWaiting(transaction: Transaction<DB>, ids: string[]): Promise<QueuedDelivery[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<QueuedDelivery>`
    with locked as materialized (
      select id, status from deliveries where id = any (${ids}::uuid[]) order by id for update skip locked
    )
    update deliveries set status = 'queued', next_attempt_at = null
    where id = any (array(select id from locked where status = 'waiting'))
    returning id, recipient_id, ${isAgain} as again`.execute(transaction);
  return rows;
}

/** Outside a sequence these take turns, and no others. */
const mostProbesOutside = 100;

/**
 * The next to be a probe: subscriptions take turns, then those outside any sequence. A single delivery that its recipient can't process
 * must not keep all others from showing that it is back.
 */
export async function findNextProbe(
  transaction: Transaction<DB>,
  { id: recipientId, probed_id: lastId }: { id: string; probed_id: string | null },
): Promise<string | undefined> {
  const subscriptionId = lastId === null ? undefined : await findSubscriptionOf(transaction, lastId);
  const [next] =
    subscriptionId === undefined ? [] : await findWaitingHeads(transaction, recipientId, 1, subscriptionId);
  if (next !== undefined) return next;
  const outside = (await findWaitingOutside(transaction, recipientId, mostProbesOutside)).toSorted();
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

export async function setProbe(transaction: Transaction<DB>, recipientId: string, deliveryId: string): Promise<void> {
  await transaction.updateTable("recipients").set({ probed_id: deliveryId }).where("id", "=", recipientId).execute();
}

export async function queueAll(transaction: Transaction<DB>, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`update deliveries set status = 'queued' where id = any (${ids}::uuid[])`.execute(transaction);
}

/** How many deliveries to it have a job, counted no further than they may be. */
export async function countQueued(transaction: Transaction<DB>, recipientId: string): Promise<number> {
  const { rows } = await sql<{ queued: number }>`
    select count(*)::int as queued from (
      select from deliveries where recipient_id = ${recipientId} and status = 'queued' limit ${mostQueued}
    ) counted`.execute(transaction);
  return rows[0]?.queued ?? 0;
}
