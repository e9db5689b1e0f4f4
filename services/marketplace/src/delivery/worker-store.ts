import { sql, type Transaction } from "kysely";
import type pg from "pg";
import type { DB } from "../database-schema.ts";
import { deliveries } from "../queue/queues.ts";
import type { FetchedAttempt } from "./delivery-jobs.ts";

/** The first key of the advisory locks of workers; the second is the worker's id. */
const lockClass = 1_836_216_166;

/** A live worker renews its heartbeat every second. One that is this late is dead if its session has ended. */
export const suspectedAfterMs = 2_000;
/** A worker that is this late is dead even if its session has not ended: it is frozen or disconnected. */
export const silentAfterMs = 15_000;

const isLate = (ms: number) => sql<boolean>`heartbeat_at < now() - ${ms} * interval '1 millisecond'`;
/** The session of a worker keeps its lock, so a transaction that gets it knows that the session has ended. Released at the end of the transaction. */
const hasEnded = sql<boolean>`pg_try_advisory_xact_lock(${lockClass}, id)`;

/** Inserts the worker and takes its lock in one statement: no other worker sees it without its lock. */
export async function insertWorker(client: pg.ClientBase, host: string): Promise<number> {
  const { rows } = await client.query<{ id: number; locked: boolean }>(
    "insert into delivery_workers (host) values ($1) returning id, pg_try_advisory_lock($2, id) as locked",
    [host, lockClass],
  );
  const [worker] = rows;
  if (worker?.locked !== true) throw new Error("failed to lock the new worker: another session has its lock");
  return worker.id;
}

/** Takes the worker's lock until the session ends. Returns false while an earlier session of this worker has not ended. */
export async function tryLockWorker(client: pg.ClientBase, id: number): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>("select pg_try_advisory_lock($1, $2) as locked", [
    lockClass,
    id,
  ]);
  return rows[0]?.locked === true;
}

export async function unlockWorker(client: pg.ClientBase, id: number): Promise<void> {
  await client.query("select pg_advisory_unlock($1, $2)", [lockClass, id]);
}

/** Returns false if another worker has declared this one dead. */
export async function renewHeartbeat(client: pg.ClientBase, id: number): Promise<boolean> {
  const { rowCount } = await client.query("update delivery_workers set heartbeat_at = now() where id = $1", [id]);
  return rowCount === 1;
}

/** Deletes workers that are dead. Returns their ids: the caller's transaction releases what they had fetched. */
export async function deleteDeadWorkers(transaction: Transaction<DB>): Promise<number[]> {
  return deleteWorkers(transaction, sql`${isLate(suspectedAfterMs)} and (${isLate(silentAfterMs)} or ${hasEnded})`);
}

/** The same for workers of this host, and only for those whose session has ended. */
export async function deletePredecessors(transaction: Transaction<DB>, host: string): Promise<number[]> {
  return deleteWorkers(transaction, sql`host = ${host} and ${isLate(suspectedAfterMs)} and ${hasEnded}`);
}

/** Each may have a thousand jobs. The next check finds the others. */
const maxDeadAtOnce = 5;

/** Returns whether this transaction may look for dead workers. One at a time is enough. */
export async function tryLockTakeOver(transaction: Transaction<DB>): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${lockClass}, 0) as locked`.execute(transaction);
  return rows[0]?.locked === true;
}

async function deleteWorkers(transaction: Transaction<DB>, isDead: ReturnType<typeof isLate>): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    delete from delivery_workers where id = any (array(
      select id from delivery_workers where ${isDead} limit ${maxDeadAtOnce} for update skip locked
    ))
    returning id`.execute(transaction);
  return rows.map(({ id }) => id);
}

export async function deleteWorker(transaction: Transaction<DB>, id: number): Promise<void> {
  await transaction.deleteFrom("delivery_workers").where("id", "=", id).execute();
}

/** The jobs that these workers have fetched and not settled. Reads all active jobs, which are as many as requests in flight. */
export async function findFetchedBy(transaction: Transaction<DB>, workerIds: number[]): Promise<FetchedAttempt[]> {
  // The condition on group_id matches the index of pg-boss on active jobs.
  const { rows } = await sql<FetchedAttempt>`
    select j.id, j.retry_count as "retryCount" from pgboss.job j
    cross join lateral (select worker_id from deliveries where id = j.id limit 1) d
    where j.name = ${deliveries} and j.state = 'active' and j.group_id is not null
      and d.worker_id = any (${workerIds}::integer[])`.execute(transaction);
  return rows;
}
