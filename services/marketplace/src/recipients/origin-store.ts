import { type Kysely, type Selectable, sql, type Transaction } from "kysely";
import type { CallbackOrigins, DB } from "../database-schema.ts";
import { deliveries, hasJob, recoveries } from "../queue/queues.ts";
import type { OriginState } from "./origin.ts";

export interface Origin {
  id: string;
  origin: string;
  state: OriginState;
  /** The delivery that was its last probe. */
  probed_id: string | null;
}

const toOrigin = (row: Selectable<CallbackOrigins>): Origin => ({
  id: row.id,
  origin: row.origin,
  state: {
    // The table's check constraint allows no other status.
    status: row.status as OriginState["status"],
    consecutiveFailures: row.consecutive_failures,
    failedRecipientId: row.failed_recipient_id,
    heldSince: row.held_since,
    probes: row.probes,
  },
  probed_id: row.probed_id,
});

/** An origin has a row once one of its recipients has failed. */
export async function insertOrigin(transaction: Transaction<DB>, origin: string): Promise<void> {
  await transaction
    .insertInto("callback_origins")
    .values({ origin })
    .onConflict((conflict) => conflict.column("origin").doNothing())
    .execute();
}

/** Locks those origins that have a row, always in the order of their ids. */
export async function lockOrigins(
  transaction: Transaction<DB>,
  by: { origins: string[] } | { ids: string[] },
): Promise<Origin[]> {
  if (("ids" in by ? by.ids : by.origins).length === 0) return [];
  const rows = await transaction
    .selectFrom("callback_origins")
    .selectAll()
    .$call((query) => ("ids" in by ? query.where("id", "in", by.ids) : query.where("origin", "in", by.origins)))
    .orderBy("id")
    .forUpdate()
    .execute();
  return rows.map(toOrigin);
}

export async function updateOrigin(transaction: Transaction<DB>, id: string, state: OriginState): Promise<void> {
  await transaction
    .updateTable("callback_origins")
    .set({
      status: state.status,
      consecutive_failures: state.consecutiveFailures,
      failed_recipient_id: state.failedRecipientId,
      held_since: state.heldSince,
      probes: state.probes,
      // Only the probe of a held origin may be sent.
      ...(state.status === "active" ? { probed_id: null } : {}),
    })
    .where("id", "=", id)
    .execute();
}

export async function updateOriginProbe(transaction: Transaction<DB>, id: string, deliveryId: string): Promise<void> {
  await transaction.updateTable("callback_origins").set({ probed_id: deliveryId }).where("id", "=", id).execute();
}

/** Locks held origins that have neither a probe in flight nor a recovery job. */
export async function lockHeldOriginsWithoutProbe(transaction: Transaction<DB>, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select c.id from callback_origins c
    where c.status = 'held'
      and ${hasJob(recoveries, sql`c.id`)} is null
      and ${hasJob(deliveries, sql`c.probed_id`)} is null
    limit ${limit} for update of c skip locked`.execute(transaction);
  return rows.map(({ id }) => id);
}

export interface HeldOriginRow {
  origin: string;
  held_since: Date;
  probes: number;
  organisations: number;
}

/** Held origins, longest held first. Their organisations are counted up to the given number. */
export async function findHeldOrigins(
  database: Kysely<DB>,
  limit: number,
  maxOrganisations: number,
): Promise<HeldOriginRow[]> {
  const { rows } = await sql<HeldOriginRow>`
    select c.origin, c.held_since, c.probes, (
      select count(*)::int from (
        select from organisations o where o.callback_origin = c.origin limit ${maxOrganisations}
      ) counted
    ) as organisations
    from callback_origins c where c.status = 'held' order by c.held_since, c.id limit ${limit}`.execute(database);
  return rows;
}

export async function countHeldOrigins(database: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ held: number }>`
    select count(*)::int as held from callback_origins where status = 'held'`.execute(database);
  return rows[0]?.held ?? 0;
}
