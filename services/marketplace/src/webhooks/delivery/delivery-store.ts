import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";

export interface AddressedEvent {
  eventId: string;
  event: string;
  organisationId: string;
  vendorId: string;
  subscriptionId: string;
  sequence: number;
  at: Date;
}

export interface NewDelivery {
  id: string;
  recipient_id: string;
  status: "queued" | "waiting";
}

/** The recipients' rows are shared until the commit: none of them is held or let go meanwhile. */
export async function insertDeliveries(transaction: Transaction<DB>, event: AddressedEvent): Promise<NewDelivery[]> {
  const { rows } = await sql<NewDelivery>`
    with addressed as (
      select id, status from recipients
      -- An array, not "or": that would read a quarter of a million recipients
      where id = any (array(
        select ${event.organisationId}::uuid union all
        select id from webhook_endpoints
        where vendor_id = ${event.vendorId} and deleted_at is null and ${event.event} = any (events)
      ))
      order by id for share
    )
    insert into deliveries (id, event_id, recipient_id, subscription_id, sequence, status, created_at)
    select mint_uuid(), ${event.eventId}, addressed.id, ${event.subscriptionId}, ${event.sequence},
      case when addressed.status = 'active' and not exists (
        select from deliveries earlier
        where earlier.subscription_id = ${event.subscriptionId} and earlier.recipient_id = addressed.id
          and earlier.status in ('waiting', 'queued')
      ) then 'queued' else 'waiting' end,
      ${event.at}
    from addressed
    returning id, recipient_id, status`.execute(transaction);
  return rows;
}

/** One delivery outside any sequence, for one recipient. */
export async function insertDelivery(
  transaction: Transaction<DB>,
  given: { eventId: string; recipientId: string; at: Date },
): Promise<NewDelivery> {
  const { rows } = await sql<NewDelivery>`
    insert into deliveries (id, event_id, recipient_id, status, created_at)
    select mint_uuid(), ${given.eventId}, id, case when status = 'active' then 'queued' else 'waiting' end, ${given.at}
    from recipients where id = ${given.recipientId} for share
    returning id, recipient_id, status`.execute(transaction);
  const [delivery] = rows;
  if (delivery === undefined) throw new Error("a delivery for a recipient that doesn't exist");
  return delivery;
}

/** The lanes' locks, always taken in the same order. */
export async function lockLanes(transaction: Transaction<DB>, subscriptionIds: string[]): Promise<void> {
  if (subscriptionIds.length === 0) return;
  await sql`select from subscriptions where id = any (${subscriptionIds}::uuid[]) order by id for update`.execute(
    transaction,
  );
}

/** The first that waits in each of these lanes is queued, where nothing is under way before it and its recipient isn't held. */
export async function queueSuccessors(
  transaction: Transaction<DB>,
  lanes: { subscriptionId: string; recipientId: string }[],
): Promise<{ id: string; recipient_id: string }[]> {
  if (lanes.length === 0) return [];
  const subscriptions = lanes.map((lane) => lane.subscriptionId);
  const recipients = lanes.map((lane) => lane.recipientId);
  const { rows } = await sql<{ id: string; recipient_id: string }>`
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
    returning deliveries.id, deliveries.recipient_id`.execute(transaction);
  return rows;
}

/** The oldest that wait for this recipient and have nothing before them in their lane are queued. */
export async function queueHeads(
  transaction: Transaction<DB>,
  recipientId: string,
  most: number,
): Promise<{ id: string; recipient_id: string }[]> {
  const { rows } = await sql<{ id: string; recipient_id: string }>`
    update deliveries set status = 'queued', next_attempt_at = null
    where id in (
      select d.id from deliveries d
      where d.recipient_id = ${recipientId} and d.status = 'waiting' and not exists (
        select from deliveries earlier
        where earlier.subscription_id = d.subscription_id and earlier.recipient_id = d.recipient_id
          and earlier.status in ('waiting', 'queued') and earlier.sequence < d.sequence
      )
      order by d.created_at, d.id limit ${most}
      for update skip locked
    )
    returning id, recipient_id`.execute(transaction);
  return rows;
}

export function findDelivery(database: Kysely<DB>, id: string) {
  return database.selectFrom("deliveries").selectAll().where("id", "=", id).executeTakeFirst();
}

export interface SettledDelivery {
  id: string;
  subscription_id: string | null;
  created_at: Date;
}

// Written out, not handed over: only so does the planner see which index will do.
export const isSettled = sql`status in ('delivered', 'failed', 'expired')`;

/** Those of them that are still settled begin anew, as rows that wait. */
export async function beginAnew(transaction: Transaction<DB>, ids: string[]): Promise<SettledDelivery[]> {
  const { rows } = await sql<SettledDelivery>`
    update deliveries set status = 'waiting', failures = 0, settled_at = null, next_attempt_at = null
    where id = any (${ids}::uuid[]) and ${isSettled}
    returning id, subscription_id, created_at`.execute(transaction);
  return rows;
}

export async function queueAll(transaction: Transaction<DB>, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`update deliveries set status = 'queued' where id = any (${ids}::uuid[])`.execute(transaction);
}

/** Until the commit it is neither held nor let go: otherwise neither side would queue what begins to wait now. */
export async function shareRecipient(transaction: Transaction<DB>, id: string): Promise<{ status: string }> {
  return transaction
    .selectFrom("recipients")
    .select("status")
    .where("id", "=", id)
    .forShare()
    .executeTakeFirstOrThrow();
}
