import { executeDeferred, executePrepared } from "@ehr-marketplace/service-kit/database";
import { type RawBuilder, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";

/** Locks the subscriptions of the ordering keys, always in the order of their ids. */
export async function lockOrderingKeys(transaction: Transaction<DB>, subscriptionIds: string[]): Promise<void> {
  if (subscriptionIds.length === 0) return;
  const statement = sql`select from subscriptions where id = any (${subscriptionIds}::uuid[]) order by id for update`;
  await executeDeferred(transaction, "lock-ordering-keys", statement);
}

export interface QueuedDelivery {
  id: string;
  recipient_id: string;
  /** The delivery was settled before. */
  isRedelivery: boolean;
}
export const isRedelivery = sql`deliveries.restarted_at is not null`;

/** Queues the first unsettled delivery of each ordering key, if it is waiting and its recipient is active. */
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
      -- The origin isn't looked at: if it is held, the claim returns the delivery to waiting
      where status = 'waiting' and (select r.status from recipients r where r.id = locked.recipient_id) = 'active'
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
