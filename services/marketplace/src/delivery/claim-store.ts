import { deferRows, executeDeferred, executePrepared } from "@ehr-marketplace/service-kit/database";
import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { deliveries } from "../queue/queues.ts";
import { isUnsettled } from "./delivery-store.ts";

/** A delivery whose attempt row is inserted, with everything that sending it needs. */
export interface ClaimedDelivery {
  id: string;
  event: string;
  payload: string;
  /** The event is of a sandbox organisation. */
  sandbox: boolean;
  recipient_id: string;
  subscription_id: string | null;
  created_at: Date;
  failures: number;
  attempt: number;
  attempt_id: string;
  started_at: Date;
  kind: "endpoint" | "ehr";
  /** The origin of an EHR's callback. */
  origin: string | null;
  /** The delivery was settled before. */
  isRedelivery: boolean;
  url: string;
  networks: string[] | null;
  encrypted_secret: string;
  encrypted_next_secret: string | null;
  promote_at: Date | null;
}

/**
 * Inserts an attempt row for each delivery that is still queued, in one statement that commits before any request is sent.
 * Deliveries to a held recipient, or to an EHR whose origin is held, are skipped, except the probe.
 */
export async function claimDeliveries(database: Kysely<DB>, given: ClaimRequest): Promise<ClaimedDelivery[]> {
  return (await executePrepared(database, "claim-deliveries", claimStatement(given))).rows;
}

/** The same within a transaction, sent together with its commit. The rows are available afterwards. */
export const deferClaim = (
  transaction: Transaction<DB>,
  given: ClaimRequest,
): Promise<() => Promise<ClaimedDelivery[]>> => deferRows(transaction, "claim-deliveries", claimStatement(given));

export interface ClaimRequest {
  ids: string[];
  probes: string[];
  workerId: number | null;
  /** Skip deliveries that another worker has fetched meanwhile. */
  onlyOwned?: boolean;
  now: Date;
}

const claimStatement = (given: ClaimRequest) =>
  sql<ClaimedDelivery>`
    with requested as (
      -- The limit forces lookups by primary key; otherwise the planner may join whole tables
      select d.*, r.kind, r.status as recipient_status, r.callback_origin as origin,
        not r.origin_held or (r.origin_probed_id = d.id and d.id = any (${given.probes}::uuid[])) as may_reach_origin
      from deliveries d
      cross join lateral (select * from recipient_states where id = d.recipient_id limit 1) r
      where d.id = any (${given.ids}::uuid[]) and (not ${given.onlyOwned ?? false}::boolean or d.worker_id = ${given.workerId})
      order by d.id for update of d
    ), due as (
      select id, event_id, recipient_id, subscription_id, created_at, failures, attempts + 1 as attempt, kind,
        origin, restarted_at is not null as "isRedelivery", mint_uuid() as attempt_id
      from requested
      where status = 'queued' and may_reach_origin
        and (recipient_status = 'active' or (recipient_status = 'held' and id = any (${given.probes}::uuid[])))
    ), addressed as (
      select due.*, target.* from due cross join lateral (
        (
          select url, null::text[] as networks, encrypted_secret, encrypted_next_secret, promote_at from webhook_endpoints
          where due.kind = 'endpoint' and id = due.recipient_id and deleted_at is null limit 1
        )
        union all
        (
          select callback_url || '/api/internal/marketplace-webhook', callback_networks::text[], encrypted_secret, null, null
          from organisations where due.kind = 'ehr' and id = due.recipient_id and callback_url is not null limit 1
        )
      ) target
    ), counted as (
      update deliveries set worker_id = ${given.workerId},
        attempts = attempts + case when id = any (array(select id from addressed)) then 1 else 0 end
      where id = any (array(select id from requested))
    ), inserted as (
      insert into delivery_attempts (id, delivery_id, recipient_id, url, attempt, started_at)
      select attempt_id, id, recipient_id, url, attempt, ${given.now} from addressed
    )
    select addressed.*, happened.event, happened.payload, happened.sandbox, ${given.now}::timestamptz as started_at
    from addressed
    cross join lateral (select event, payload, sandbox from events where id = addressed.event_id limit 1) happened`;

/**
 * Locks the jobs that are still leased as they were fetched. `retryCount` can't tell: a job that was replaced has the same id and
 * starts from 0.
 */
export async function lockOwnedJobs(
  transaction: Transaction<DB>,
  jobs: { id: string; startedOn: Date }[],
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string; startedOn: Date }>`
    select id, date_trunc('milliseconds', started_on) as "startedOn" from pgboss.job
    where name = ${deliveries} and id = any (${jobs.map(({ id }) => id)}::uuid[]) and state = 'active'
    order by id for update`.execute(transaction);
  const startedOn = new Map(rows.map((row) => [row.id, row.startedOn.getTime()]));
  return new Set(jobs.filter((job) => startedOn.get(job.id) === job.startedOn.getTime()).map(({ id }) => id));
}

/** Sets queued deliveries to recipients that can't be sent to back to waiting; all other rows stay as they are. */
export async function returnHeldToWaiting(transaction: Transaction<DB>, ids: string[]): Promise<void> {
  await sql`
    with unclaimed as materialized (
      select id, recipient_id, status from deliveries where id = any (${ids}::uuid[]) order by id for update
    )
    update deliveries set status = 'waiting', next_attempt_at = null, worker_id = null where id = any (array(
      select id from unclaimed
      where status = 'queued'
        and (select s.status <> 'active' or s.origin_held from recipient_states s where s.id = unclaimed.recipient_id)
    ))`.execute(transaction);
}

/** Drops deliveries that were recorded while their endpoint was being deleted. */
export async function dropForDeletedEndpoints(transaction: Transaction<DB>, ids: string[], now: Date): Promise<void> {
  await sql`
    update deliveries set status = 'dropped', settled_at = ${now}
    where id = any (${ids}::uuid[]) and ${isUnsettled}
      and (select deleted_at from webhook_endpoints e where e.id = deliveries.recipient_id) is not null`.execute(
    transaction,
  );
}

/** The deliveries that need no job: waiting, settled or dropped. */
export async function findNotQueued(database: Kysely<DB>, ids: string[]): Promise<string[]> {
  const rows = await database
    .selectFrom("deliveries")
    .select("id")
    .where("id", "in", ids)
    .where("status", "<>", "queued")
    .execute();
  return rows.map((row) => row.id);
}

/** Records which worker has fetched these deliveries, which it claims later. */
export async function setWorker(transaction: Transaction<DB>, ids: string[], workerId: number): Promise<void> {
  if (ids.length === 0) return;
  const statement = sql`update deliveries set worker_id = ${workerId} where id = any (${ids}::uuid[])`;
  await executeDeferred(transaction, "set-worker", statement);
}
