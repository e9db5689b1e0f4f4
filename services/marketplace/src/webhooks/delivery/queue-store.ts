import { type RawBuilder, sql, type Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";

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

/** The first that waits in each of these lanes is queued, where nothing is under way before it and its recipient isn't held. */
export async function queueSuccessors(
  transaction: Transaction<DB>,
  lanes: { subscriptionId: string; recipientId: string }[],
): Promise<QueuedDelivery[]> {
  if (lanes.length === 0) return [];
  const subscriptions = lanes.map((lane) => lane.subscriptionId);
  const recipients = lanes.map((lane) => lane.recipientId);
  const { rows } = await sql<QueuedDelivery>`/* planned once: queue-successors */
    update deliveries set status = 'queued', next_attempt_at = null
    from unnest(${subscriptions}::uuid[], ${recipients}::uuid[]) as lane (subscription_id, recipient_id)
      join recipients r on r.id = lane.recipient_id and r.status = 'active'
      -- Lane by lane, whatever the planner thinks of them: all that is due together may be a million rows
      cross join lateral (
        select d.id, d.status from deliveries d
        where d.subscription_id = lane.subscription_id and d.recipient_id = lane.recipient_id
          and d.status in ('waiting', 'queued')
        order by d.sequence limit 1
      ) head
    where deliveries.id = head.id and head.status = 'waiting' and deliveries.status = 'waiting'
    returning deliveries.id, deliveries.recipient_id, ${isAgain} as again`.execute(transaction);
  return rows;
}

// Nothing before it in its lane is due.
const isHead = sql`d.status = 'waiting' and not exists (
  select from deliveries earlier
  where earlier.subscription_id = d.subscription_id and earlier.recipient_id = d.recipient_id
    and earlier.status in ('waiting', 'queued') and earlier.sequence < d.sequence
)`;

/** The oldest that wait for this recipient and have nothing before them in their lane are queued. */
export async function queueHeads(
  transaction: Transaction<DB>,
  recipientId: string,
  most: number,
): Promise<QueuedDelivery[]> {
  const { rows } = await sql<QueuedDelivery>`
    update deliveries set status = 'queued', next_attempt_at = null
    where id in (
      select d.id from deliveries d where d.recipient_id = ${recipientId} and ${isHead}
      order by d.created_at, d.id limit ${most}
      for update skip locked
    )
    returning id, recipient_id, ${isAgain} as again`.execute(transaction);
  return rows;
}

/** Behind one lane's first there may be a million more of the same lane. */
const mostLookedAt = 1_000;

/**
 * The head after the one that was the last probe is queued, or the oldest where there is none: a single delivery that its
 * recipient can't digest must not keep all others from showing that it is back.
 */
export async function queueProbe(
  transaction: Transaction<DB>,
  recipient: { id: string; probed_id: string | null },
): Promise<QueuedDelivery | undefined> {
  const { rows } = await sql<QueuedDelivery>`
    with probed as (select created_at, id from deliveries where id = ${recipient.probed_id}::uuid), near as (
      select d.* from deliveries d, probed
      where d.recipient_id = ${recipient.id} and d.status in ('waiting', 'queued')
        and (d.created_at, d.id) > (probed.created_at, probed.id)
      order by d.created_at, d.id limit ${mostLookedAt}
    ), next as (
      (select d.id, 1 as choice from near d where ${isHead} order by d.created_at, d.id limit 1)
      union all
      (select d.id, 2 from deliveries d where d.recipient_id = ${recipient.id} and ${isHead}
        order by d.created_at, d.id limit 1)
      order by choice limit 1
    ), marked as (
      update recipients set probed_id = (select id from next) where id = ${recipient.id}
    )
    update deliveries set status = 'queued', next_attempt_at = null
    where id = (select id from next) and status = 'waiting'
    returning id, recipient_id, ${isAgain} as again`.execute(transaction);
  return rows[0];
}

export async function queueAll(transaction: Transaction<DB>, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`update deliveries set status = 'queued' where id = any (${ids}::uuid[])`.execute(transaction);
}

const oldestLookedAt = 5_000;

/** How many of the oldest that are due to it have a job. */
export async function countQueued(transaction: Transaction<DB>, recipientId: string): Promise<number> {
  const { rows } = await sql<{ queued: number }>`select ${queuedTo(sql`${recipientId}::uuid`)} as queued`.execute(
    transaction,
  );
  return rows[0]?.queued ?? 0;
}

export const queuedTo = (recipientId: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
  select (count(*) filter (where status = 'queued'))::int from (
    select status from deliveries
    where recipient_id = ${recipientId} and status in ('waiting', 'queued') order by created_at, id limit ${oldestLookedAt}
  ) oldest
)`;
