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
  const { rows } = await sql<NewDelivery>`/* planned once: insert-deliveries */
    with addressed as (
      select id, status = 'active' and not crowded as open from recipients
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
      -- With a limit, because the planner may turn "not exists" into a hash of everything that is unsettled
      case when addressed.open and (
        select 1 from deliveries earlier
        where earlier.recipient_id = addressed.id and earlier.subscription_id = ${event.subscriptionId}
          and earlier.settled_at is null
        limit 1
      ) is null then 'queued' else 'waiting' end,
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

/** How many that are in no lane are due to it; counted up to so many. */
export async function countOutsideLanes(
  transaction: Transaction<DB>,
  recipientId: string,
  most: number,
): Promise<number> {
  const { rows } = await sql<{ found: number }>`
    select count(*)::int as found from (
      select from deliveries
      where recipient_id = ${recipientId} and settled_at is null and subscription_id is null limit ${most}
    ) due`.execute(transaction);
  return rows[0]?.found ?? 0;
}

export function findDelivery(database: Kysely<DB>, id: string) {
  return database.selectFrom("deliveries").selectAll().where("id", "=", id).executeTakeFirst();
}

export interface SettledDelivery {
  id: string;
  subscription_id: string | null;
  created_at: Date;
}

/** For rows that are found by their ids: no index is eligible by it, see 0008-delivery-indexes.sql. */
export const isUnsettled = sql<boolean>`status not in ('delivered', 'failed', 'expired', 'dropped')`;

// Written out, not handed over: only so does the planner see which index will do.
export const isSettled = sql`status in ('delivered', 'failed', 'expired')`;

/** Those of them that are still settled begin anew, as rows that wait. */
export async function beginAnew(transaction: Transaction<DB>, ids: string[]): Promise<SettledDelivery[]> {
  const { rows } = await sql<SettledDelivery>`
    update deliveries set status = 'waiting', failures = 0, settled_at = null, next_attempt_at = null, begun_anew_at = now()
    where id = any (${ids}::uuid[]) and ${isSettled}
    returning id, subscription_id, created_at`.execute(transaction);
  return rows;
}

/** An event that its recipient has no delivery of. */
export interface MissedEvent {
  event_id: string;
  /** With the recipient, its ordering key; null where the event is outside any sequence. */
  subscription_id: string | null;
}

/** Creates deliveries of past events, as waiting rows with the event's time and sequence. Existing ones stay as they are. */
export async function insertMissed(
  transaction: Transaction<DB>,
  recipientId: string,
  eventIds: string[],
): Promise<SettledDelivery[]> {
  if (eventIds.length === 0) return [];
  const { rows } = await sql<SettledDelivery>`
    insert into deliveries (id, event_id, recipient_id, subscription_id, sequence, status, created_at, begun_anew_at)
    select mint_uuid(), id, ${recipientId}, case when sequence is not null then subscription_id end, sequence, 'waiting',
      occurred_at, now()
    from events where id = any (${eventIds}::uuid[])
    on conflict (event_id, recipient_id) do nothing
    returning id, subscription_id, created_at`.execute(transaction);
  return rows;
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
