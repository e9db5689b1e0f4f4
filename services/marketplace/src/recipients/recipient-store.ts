import { executePrepared } from "@ehr-marketplace/service-kit/database";
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
): Promise<{ hasAddress: boolean; originHeld: boolean }> {
  const { has_callback, origin_held } = await database
    .selectFrom("recipient_states")
    .select(["has_callback", "origin_held"])
    .where("id", "=", recipientId)
    .executeTakeFirstOrThrow();
  return { hasAddress: has_callback === true, originHeld: origin_held === true };
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

const recoveryEnd = (id: RawBuilder<unknown>) => sql`hashtextextended('recovery of ' || ${id}, 0)`;

/** Keeps the recoveries of these recipients, and of the origins of their callbacks, from ending before the commit. */
export async function blockRecoveryEnd(transaction: Transaction<DB>, ids: string[]): Promise<void> {
  // In one order, so that two transactions can't wait for each other.
  await sql`
    select pg_advisory_xact_lock_shared(${recoveryEnd(sql`id`)}) from (
      select id from recipient_states where id = any (${ids}::uuid[])
      union select origin_id from recipient_states where id = any (${ids}::uuid[]) and origin_id is not null
      order by id
    ) blocked`.execute(transaction);
}

/** Waits for transactions that block the end of the recovery of this recipient or origin, and blocks new ones until the commit. */
export async function lockRecoveryEnd(transaction: Transaction<DB>, id: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${recoveryEnd(sql`${id}::uuid`)})`.execute(transaction);
}

/** Those that are active and not crowded, and whose origin is not held. */
export async function findOpen(transaction: Transaction<DB>, ids: string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from recipient_states
    where id = any (${ids}::uuid[]) and status = 'active' and not crowded and not origin_held`.execute(transaction);
  return rows.map(({ id }) => id);
}

/** Locks those that a success changes: held or failing, not disabled, with an address. In the usual case there are none. */
export async function lockFailingRecipients(transaction: Transaction<DB>, ids: string[]): Promise<Recipient[]> {
  const statement = sql<RecipientRow>`
    select id, kind, status, consecutive_failures, held_since, probes, disabled_at, disabled_reason, crowded, probed_id
    from recipients
    where id = any (${ids}::uuid[]) and (consecutive_failures > 0 or status = 'held') and status <> 'disabled'
      -- The callback may have been removed while the request was in flight
      and not ${isWithoutCallback(sql`recipients.id`)}
    order by id for update`;
  const { rows } = await executePrepared(transaction, "lock-failing-recipients", statement);
  return rows.map(toRecipient);
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
      -- The recovery of a held origin includes its recipients
      and not (select s.origin_held or ${hasJob(recoveries, sql`s.origin_id`)} is not null from recipient_states s where s.id = r.id)
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
