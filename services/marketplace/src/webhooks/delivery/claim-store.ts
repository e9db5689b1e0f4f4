import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";
import { isUnsettled } from "./delivery-store.ts";

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
      -- By primary keys alone, whatever the planner thinks of the tables' sizes: a limit keeps it from joining whole tables
      select d.*, r.kind, r.status as recipient_status
      from deliveries d
      cross join lateral (select kind, status from recipients where id = d.recipient_id limit 1) r
      where d.id = any (${given.ids}::uuid[])
      order by d.id for update of d
    ), due as (
      select id, event_id, recipient_id, subscription_id, created_at, failures, attempts + 1 as attempt, kind,
        mint_uuid() as attempt_id
      from asked
      where status = 'queued'
        and (recipient_status = 'active' or (recipient_status = 'held' and id = any (${given.probes}::uuid[])))
    ), addressed as (
      select due.*, target.* from due cross join lateral (
        (
          select url, null::text[] as networks, sealed_secret, sealed_next_secret, promote_at from webhook_endpoints
          where due.kind = 'endpoint' and id = due.recipient_id and deleted_at is null limit 1
        )
        union all
        (
          select callback_url || '/api/internal/marketplace-webhook', callback_networks::text[], sealed_secret, null, null
          from organisations where due.kind = 'ehr' and id = due.recipient_id and callback_url is not null limit 1
        )
      ) target
    ), counted as (
      update deliveries set attempts = addressed.attempt from addressed where deliveries.id = addressed.id
    ), opened as (
      insert into delivery_attempts (id, delivery_id, recipient_id, url, attempt, started_at)
      select attempt_id, id, recipient_id, url, attempt, ${given.now} from addressed
    )
    select addressed.*, happened.event, happened.payload, ${given.now}::timestamptz as started_at
    from addressed
    cross join lateral (select event, payload from events where id = addressed.event_id limit 1) happened`.execute(
    database,
  );
  return rows;
}

/** What can't go out because its recipient is held becomes a row that waits; whatever else changed meanwhile stays. */
export async function releaseHeld(transaction: Transaction<DB>, ids: string[]): Promise<void> {
  await sql`
    with unclaimed as materialized (
      select id, recipient_id, status from deliveries where id = any (${ids}::uuid[]) order by id for update
    ), recipient as materialized (
      select id, status from recipients where id = any (array(select recipient_id from unclaimed)) order by id for share
    )
    update deliveries set status = 'waiting' where id = any (array(
      select id from unclaimed
      where status = 'queued' and recipient_id = any (array(select id from recipient where status <> 'active'))
    ))`.execute(transaction);
}

/** Recorded at the very moment in which its endpoint was deleted: nobody is there to hear it. */
export async function dropForDeleted(transaction: Transaction<DB>, ids: string[], now: Date): Promise<void> {
  await sql`
    update deliveries set status = 'dropped', settled_at = ${now}
    where id = any (${ids}::uuid[]) and ${isUnsettled}
      and (select deleted_at from webhook_endpoints e where e.id = deliveries.recipient_id) is not null`.execute(
    transaction,
  );
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
