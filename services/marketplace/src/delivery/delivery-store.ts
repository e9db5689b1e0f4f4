import { executePrepared } from "@ehr-marketplace/service-kit/database";
import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import type { RecordedEvent, SettledDelivery } from "./delivery.ts";

export interface NewDelivery {
  id: string;
  recipient_id: string;
  status: "queued" | "waiting";
  /** The recipient was active and not crowded, and its origin not held. Neither is locked: this may change before the commit. */
  isAvailable: boolean;
}

export async function insertDeliveries(transaction: Transaction<DB>, event: RecordedEvent): Promise<NewDelivery[]> {
  const statement = sql<NewDelivery>`
    with addressed as (
      select id, status = 'active' and not crowded and not origin_held as available from recipient_states
      -- An array, not "or": "or" would scan all recipients
      where id = any (array(
        select ${event.organisationId}::uuid union all
        select id from webhook_endpoints
        where vendor_id = ${event.vendorId} and deleted_at is null and ${event.event} = any (events)
      ))
    ), inserted as (
      insert into deliveries (id, event_id, recipient_id, subscription_id, sequence, status, created_at)
      select mint_uuid(), ${event.eventId}, addressed.id, ${event.subscriptionId}, ${event.sequence},
        -- With a limit: the planner may turn "not exists" into a hash of all unsettled deliveries
        case when addressed.available and (
          select 1 from deliveries earlier
          where earlier.recipient_id = addressed.id and earlier.subscription_id = ${event.subscriptionId}
            and earlier.settled_at is null
          limit 1
        ) is null then 'queued' else 'waiting' end,
        ${event.at}
      from addressed
      returning id, recipient_id, status
    )
    select inserted.*, addressed.available as "isAvailable" from inserted join addressed on addressed.id = inserted.recipient_id`;
  const { rows } = await executePrepared(transaction, "insert-deliveries", statement);
  return rows;
}

/** The same for events of many subscriptions, all of one vendor and with the same name. */
export async function insertDeliveriesOfBatch(
  transaction: Transaction<DB>,
  events: RecordedEvent[],
): Promise<NewDelivery[]> {
  const [first] = events;
  if (first === undefined) return [];
  const { rows } = await sql<NewDelivery>`
    with event as materialized (
      select * from unnest(
        ${events.map(({ eventId }) => eventId)}::uuid[], ${events.map(({ subscriptionId }) => subscriptionId)}::uuid[],
        ${events.map(({ organisationId }) => organisationId)}::uuid[], ${events.map(({ sequence }) => sequence)}::integer[],
        ${events.map(({ at }) => at.toISOString())}::timestamptz[]
      ) as event (id, subscription_id, organisation_id, sequence, at)
    ), endpoint as materialized (
      select id from webhook_endpoints
      where vendor_id = ${first.vendorId} and deleted_at is null and ${first.event} = any (events)
    ), addressed as materialized (
      select id, status = 'active' and not crowded and not origin_held as available from recipient_states
      where id = any (array(select organisation_id from event union all select id from endpoint))
    ), planned as materialized (
      select event.id as event_id, event.subscription_id, event.sequence, event.at, addressed.id as recipient_id, addressed.available
      from event join addressed on addressed.id = event.organisation_id
      union all
      select event.id, event.subscription_id, event.sequence, event.at, addressed.id, addressed.available
      from event cross join (select * from addressed where id in (select id from endpoint)) addressed
    ), inserted as (
      insert into deliveries (id, event_id, recipient_id, subscription_id, sequence, status, created_at)
      select mint_uuid(), planned.event_id, planned.recipient_id, planned.subscription_id, planned.sequence,
        case when planned.available and (
          select 1 from deliveries earlier
          where earlier.recipient_id = planned.recipient_id and earlier.subscription_id = planned.subscription_id
            and earlier.settled_at is null
          -- In the order of one index: another would read all unsettled deliveries to an endpoint, for each event
          order by earlier.sequence limit 1
        ) is null then 'queued' else 'waiting' end,
        planned.at
      from planned
      returning id, recipient_id, status
    )
    select inserted.*, addressed.available as "isAvailable" from inserted join addressed on addressed.id = inserted.recipient_id`.execute(
    transaction,
  );
  return rows;
}

/** A delivery outside any sequence, for one recipient. */
export interface UnorderedDelivery {
  eventId: string;
  recipientId: string;
  at: Date;
  /** For events of which there can be thousands at a time. Otherwise it is queued also when the recipient is crowded. */
  waitsIfCrowded?: boolean;
}

export async function insertDelivery(transaction: Transaction<DB>, given: UnorderedDelivery): Promise<NewDelivery> {
  const { rows } = await sql<NewDelivery>`
    insert into deliveries (id, event_id, recipient_id, status, created_at)
    select mint_uuid(), ${given.eventId}, id,
      case when status = 'active' and not origin_held and not (crowded and ${given.waitsIfCrowded ?? false}::boolean)
        then 'queued' else 'waiting' end,
      ${given.at}
    from recipient_states where id = ${given.recipientId}
    returning id, recipient_id, status, status = 'queued' as "isAvailable"`.execute(transaction);
  const [delivery] = rows;
  if (delivery === undefined) throw new Error("failed to insert a delivery: the recipient doesn't exist");
  return delivery;
}

/** Other deliveries without an ordering key may be waiting, too, in any number. Only so many are looked at. */
const maxReadUnordered = 1_000;

/** Counts the recipient's unsettled pings. Beyond those that are looked at, every delivery counts. */
export async function countPings(transaction: Transaction<DB>, recipientId: string): Promise<number> {
  const { rows } = await sql<{ pings: number; read: number }>`
    select count(ping.event)::int as pings, count(*)::int as read from (
      select event_id from deliveries
      where recipient_id = ${recipientId} and settled_at is null and subscription_id is null limit ${maxReadUnordered}
    ) due
    left join events ping on ping.id = due.event_id and ping.event = 'ping'`.execute(transaction);
  const { pings = 0, read = 0 } = rows[0] ?? {};
  return read === maxReadUnordered ? read : pings;
}

export function findDelivery(database: Kysely<DB>, id: string) {
  return database.selectFrom("deliveries").selectAll().where("id", "=", id).executeTakeFirst();
}

/** For rows that are found by id: written so that no index matches, see 0008-delivery-indexes.sql. */
export const isUnsettled = sql<boolean>`status not in ('delivered', 'failed', 'expired', 'dropped')`;

// Literals, not parameters, so that the planner can match the partial index.
export const isSettled = sql`status in ('delivered', 'failed', 'expired')`;

/** Sets settled deliveries back to waiting with no failures, and returns them. */
export async function reopenDeliveries(transaction: Transaction<DB>, ids: string[]): Promise<SettledDelivery[]> {
  const { rows } = await sql<SettledDelivery>`
    update deliveries set status = 'waiting', failures = 0, settled_at = null, next_attempt_at = null, restarted_at = now()
    where id = any (${ids}::uuid[]) and ${isSettled}
    returning id, subscription_id, created_at`.execute(transaction);
  return rows;
}

/** Creates deliveries of past events, as waiting rows with the event's time and sequence. Existing ones stay as they are. */
export async function insertMissedDeliveries(
  transaction: Transaction<DB>,
  recipientId: string,
  eventIds: string[],
): Promise<SettledDelivery[]> {
  if (eventIds.length === 0) return [];
  const { rows } = await sql<SettledDelivery>`
    insert into deliveries (id, event_id, recipient_id, subscription_id, sequence, status, created_at, restarted_at)
    select mint_uuid(), id, ${recipientId}, case when sequence is not null then subscription_id end, sequence, 'waiting',
      occurred_at, now()
    from events where id = any (${eventIds}::uuid[])
    on conflict (event_id, recipient_id) do nothing
    returning id, subscription_id, created_at`.execute(transaction);
  return rows;
}

/** Whether the recipient is active and its origin not held; it may be crowded. */
export async function canSendTo(transaction: Transaction<DB>, id: string): Promise<boolean> {
  const found = await transaction
    .selectFrom("recipient_states")
    .select(["status", "origin_held"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return found.status === "active" && found.origin_held !== true;
}
