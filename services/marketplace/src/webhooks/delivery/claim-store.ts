import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";

/** A delivery on its way out: its log row is open, and this is all that sending it takes. */
export interface ClaimedDelivery {
  id: string;
  event: string;
  payload: string;
  recipient_id: string;
  subscription_id: string | null;
  created_at: Date;
  failures: number;
  attempt: number;
  attempt_id: string;
  started_at: Date;
  kind: "endpoint" | "ehr";
  url: string;
  networks: string[] | null;
  sealed_secret: string;
  sealed_next_secret: string | null;
  promote_at: Date | null;
}

/**
 * Opens the log for all of these that are still to be sent, in one statement, committed before anything goes out. Those to
 * a recipient that is held stay out, unless they are its probe.
 */
export async function claimDeliveries(
  database: Kysely<DB>,
  given: { ids: string[]; probes: string[]; now: Date },
): Promise<ClaimedDelivery[]> {
  const { rows } = await sql<ClaimedDelivery>`/* planned once: claim-deliveries */
    with asked as (
      -- Not by its status: there is an index of what is queued, which a busy day fills with what no longer is
      select d.*, r.kind, r.status as recipient_status
      from deliveries d join recipients r on r.id = d.recipient_id
      where d.id = any (${given.ids}::uuid[]) and d.settled_at is null
      order by d.id for update of d
    ), due as (
      select id, event_id, recipient_id, subscription_id, created_at, failures, attempts + 1 as attempt, kind,
        mint_uuid() as attempt_id
      from asked
      where status = 'queued'
        and (recipient_status = 'active' or (recipient_status = 'held' and id = any (${given.probes}::uuid[])))
    ), addressed as (
      select due.*, coalesce(e.url, o.callback_url || '/api/internal/marketplace-webhook') as url,
        o.callback_networks::text[] as networks, coalesce(e.sealed_secret, o.sealed_secret) as sealed_secret,
        e.sealed_next_secret, e.promote_at
      from due
      left join webhook_endpoints e on due.kind = 'endpoint' and e.id = due.recipient_id and e.deleted_at is null
      left join organisations o on due.kind = 'ehr' and o.id = due.recipient_id
      where coalesce(e.url, o.callback_url) is not null
    ), counted as (
      update deliveries set attempts = addressed.attempt from addressed where deliveries.id = addressed.id
    ), opened as (
      insert into delivery_attempts (id, delivery_id, recipient_id, url, attempt, started_at)
      select attempt_id, id, recipient_id, url, attempt, ${given.now} from addressed
    )
    select addressed.*, events.event, events.payload, ${given.now}::timestamptz as started_at
    from addressed join events on events.id = addressed.event_id`.execute(database);
  return rows;
}

/** What can't go out because its recipient is held becomes a row that waits; whatever else changed meanwhile stays. */
export async function releaseHeld(transaction: Transaction<DB>, ids: string[]): Promise<void> {
  await sql`
    with held as (
      select id from recipients
      where status <> 'active' and id in (select recipient_id from deliveries where id = any (${ids}::uuid[]))
      for share
    )
    update deliveries set status = 'waiting' from held
    where deliveries.recipient_id = held.id and deliveries.id = any (${ids}::uuid[]) and deliveries.status = 'queued'`.execute(
    transaction,
  );
}

/** Recorded at the very moment in which its endpoint was deleted: nobody is there to hear it. */
export async function dropForDeleted(transaction: Transaction<DB>, ids: string[], now: Date): Promise<void> {
  await sql`
    update deliveries set status = 'dropped', settled_at = ${now} from webhook_endpoints e
    where e.id = deliveries.recipient_id and e.deleted_at is not null
      and deliveries.id = any (${ids}::uuid[]) and deliveries.status in ('waiting', 'queued')`.execute(transaction);
}

/** Those of these that need no job: they wait as rows, are settled, or were dropped with their endpoint. */
export async function findNotQueued(database: Kysely<DB>, ids: string[]): Promise<string[]> {
  const rows = await database
    .selectFrom("deliveries")
    .select("id")
    .where("id", "in", ids)
    .where("status", "<>", "queued")
    .execute();
  return rows.map((row) => row.id);
}
