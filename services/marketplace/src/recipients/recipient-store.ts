import { executeDeferred, executePrepared } from "@ehr-marketplace/service-kit/database";
import { type Kysely, type RawBuilder, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { deliveries, hasJob, recoveries } from "../queue/queues.ts";
import type { RecipientKind, RecipientState } from "./recipient.ts";

export interface Recipient {
  id: string;
  kind: RecipientKind;
  state: RecipientState;
  /** More deliveries are queued than it takes: new ones wait as rows, and recovery steps queue them. */
  crowded: boolean;
  /** The delivery that was its last probe. */
  probed_id: string | null;
}

interface RecipientRow {
  id: string;
  kind: string;
  status: string;
  consecutive_failures: number;
  held_since: Date | null;
  probes: number;
  disabled_at: Date | null;
  disabled_reason: string | null;
  crowded: boolean;
  probed_id: string | null;
}

// The table's check constraints allow no other kinds and statuses.
const toRecipient = (row: RecipientRow): Recipient => ({
  id: row.id,
  kind: row.kind as RecipientKind,
  state: {
    status: row.status as RecipientState["status"],
    consecutiveFailures: row.consecutive_failures,
    heldSince: row.held_since,
    probes: row.probes,
    disabledAt: row.disabled_at,
    disabledReason: row.disabled_reason,
  },
  crowded: row.crowded,
  probed_id: row.probed_id,
});

/** True for an organisation that has not set its callback, or has removed it. */
const isWithoutCallback = (recipientId: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`exists (select from organisations o where o.id = ${recipientId} and o.callback_url is null)`;

/** What decides whether an EHR can be sent to, besides the state of its recipient. */
export async function readCallback(
  database: Kysely<DB>,
  recipientId: string,
): Promise<{ hasCallback: boolean; originHeld: boolean }> {
  const { has_callback, origin_held } = await database
    .selectFrom("recipient_states")
    .select(["has_callback", "origin_held"])
    .where("id", "=", recipientId)
    .executeTakeFirstOrThrow();
  return { hasCallback: has_callback === true, originHeld: origin_held === true };
}

export async function lockRecipient(transaction: Transaction<DB>, id: string): Promise<Recipient> {
  const row = await transaction
    .selectFrom("recipients")
    .selectAll()
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return toRecipient(row);
}

/** Locks these recipients, always in the order of their ids. */
export async function lockRecipients(transaction: Transaction<DB>, ids: string[]): Promise<Recipient[]> {
  if (ids.length === 0) return [];
  const rows = await transaction
    .selectFrom("recipients")
    .selectAll()
    .where("id", "in", ids)
    .orderBy("id")
    .forUpdate()
    .execute();
  return rows.map(toRecipient);
}

const recoveryLock = (id: RawBuilder<unknown>) => sql`hashtextextended('recovery of ' || ${id}, 0)`;

/** Shares the locks of the recoveries of these recipients, and of the origins of their callbacks, until the commit. */
export async function shareRecoveryLocks(transaction: Transaction<DB>, ids: string[]): Promise<void> {
  // Origins first: the recovery of an origin locks its recipients while it has the lock alone.
  const statement = sql`
    select pg_advisory_xact_lock_shared(${recoveryLock(sql`id`)}) from (
      select distinct origin_id as id, 1 as turn from recipient_states where id = any (${ids}::uuid[]) and origin_id is not null
      union all
      select id, 2 from recipients where id = any (${ids}::uuid[])
      order by turn, id
    ) shared`;
  await executeDeferred(transaction, "share-recovery-locks", statement);
}

/** Takes the lock of the recovery of a recipient or origin alone: waits for transactions that share it, and blocks others until the commit. */
export async function takeRecoveryLock(transaction: Transaction<DB>, id: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${recoveryLock(sql`${id}::uuid`)})`.execute(transaction);
}

/** Those that are active and not crowded, and whose origin is not held. */
export async function readAvailable(transaction: Transaction<DB>, ids: string[]): Promise<string[]> {
  const statement = sql<{ id: string }>`
    select id from recipient_states
    where id = any (${ids}::uuid[]) and status = 'active' and not crowded and not origin_held`;
  const { rows } = await executePrepared(transaction, "read-available", statement);
  return rows.map(({ id }) => id);
}

export interface Failing {
  recipientIds: string[];
  origins: string[];
}

/**
 * Of the recipients and origins that have responded, finds those that this changes: failing or held, not disabled, with a callback. In the
 * usual case there are none.
 */
export async function findFailing(transaction: Transaction<DB>, { recipientIds, origins }: Failing): Promise<Failing> {
  const statement = sql<{ recipient_id: string | null; origin: string | null }>`
    select id as recipient_id, null as origin from recipients
    where id = any (${recipientIds}::uuid[]) and (consecutive_failures > 0 or status = 'held') and status <> 'disabled'
      -- The callback may have been removed while the request was in flight
      and not ${isWithoutCallback(sql`recipients.id`)}
    union all
    select null, origin from callback_origins
    where origin = any (${origins}::text[]) and (consecutive_failures > 0 or status = 'held')`;
  const { rows } = await executePrepared(transaction, "find-failing", statement);
  return {
    recipientIds: rows.flatMap(({ recipient_id }) => recipient_id ?? []),
    origins: rows.flatMap(({ origin }) => origin ?? []),
  };
}

export async function updateState(transaction: Transaction<DB>, id: string, state: RecipientState): Promise<void> {
  await transaction
    .updateTable("recipients")
    .set({
      status: state.status,
      consecutive_failures: state.consecutiveFailures,
      held_since: state.heldSince,
      probes: state.probes,
      disabled_at: state.disabledAt,
      disabled_reason: state.disabledReason,
      // The turn of the next probe goes on only while the recipient is not active.
      ...(state.status === "active" ? { probed_id: null } : {}),
    })
    .where("id", "=", id)
    .execute();
}

/** The same as `updateState` for several recipients, in one statement. */
export async function updateStates(
  transaction: Transaction<DB>,
  states: { id: string; state: RecipientState }[],
): Promise<void> {
  if (states.length === 0) return;
  const rows = JSON.stringify(
    states.map(({ id, state }) => ({
      id,
      status: state.status,
      consecutive_failures: state.consecutiveFailures,
      held_since: state.heldSince,
      probes: state.probes,
      disabled_at: state.disabledAt,
      disabled_reason: state.disabledReason,
    })),
  );
  await sql`
    update recipients set status = next.status, consecutive_failures = next.consecutive_failures,
      held_since = next.held_since, probes = next.probes, disabled_at = next.disabled_at,
      disabled_reason = next.disabled_reason,
      probed_id = case when next.status = 'active' then null else recipients.probed_id end
    from json_to_recordset(${rows}::json) as next(id uuid, status text, consecutive_failures integer,
      held_since timestamptz, probes integer, disabled_at timestamptz, disabled_reason text)
    where recipients.id = next.id`.execute(transaction);
}

export async function updateProbe(transaction: Transaction<DB>, id: string, deliveryId: string): Promise<void> {
  await transaction.updateTable("recipients").set({ probed_id: deliveryId }).where("id", "=", id).execute();
}

export async function updateCrowded(transaction: Transaction<DB>, ids: string[], crowded: boolean): Promise<void> {
  if (ids.length === 0) return;
  await sql`update recipients set crowded = ${crowded} where id = any (${ids}::uuid[])`.execute(transaction);
}

/** Locks held recipients with a callback and unsettled deliveries, but neither a probe in flight nor a recovery job. */
export async function lockHeldWithoutProbe(transaction: Transaction<DB>, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select r.id from recipients r
      cross join lateral (select from deliveries where recipient_id = r.id and settled_at is null limit 1) due
    where r.status = 'held'
      and not ${isWithoutCallback(sql`r.id`)}
      and ${hasJob(recoveries, sql`r.id`)} is null
      and ${hasJob(deliveries, sql`r.probed_id`)} is null
    limit ${limit} for update of r skip locked`.execute(transaction);
  return rows.map(({ id }) => id);
}

export interface RecipientCounts {
  /** Without organisations that have no callback. */
  held: number;
  disabled: number;
}

export async function countRecipients(database: Kysely<DB>): Promise<RecipientCounts> {
  const { rows } = await sql<RecipientCounts>`
    select
      (select count(*) from recipients r where status = 'held' and not ${isWithoutCallback(sql`r.id`)})::float8 as held,
      (select count(*) from recipients where status = 'disabled')::float8 as disabled`.execute(database);
  const [counts] = rows;
  if (counts === undefined) throw new Error("the count returned no row");
  return counts;
}

/** Of a recipient that is an endpoint. */
export async function findEndpoint(
  transaction: Transaction<DB>,
  id: string,
): Promise<{ url: string; vendor_id: string } | undefined> {
  return transaction
    .selectFrom("webhook_endpoints")
    .select(["url", "vendor_id"])
    .where("id", "=", id)
    .executeTakeFirst();
}
