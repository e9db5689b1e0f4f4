import type { AuditEntry } from "@ehr-marketplace/contracts";
import type { PageSlice } from "@ehr-marketplace/service-kit/http";
import { type Kysely, type Selectable, sql } from "kysely";
import type { AuditEntries, DB } from "../database-schema.ts";
import type { LogRange } from "../partitioned-log.ts";

const toRow = (entry: AuditEntry) => ({
  id: entry.id,
  at: entry.at,
  actor_issuer: entry.actor.issuer,
  actor_subject: entry.actor.subject,
  actor_role: entry.actor.role,
  on_behalf_of: entry.onBehalfOf,
  action: entry.action,
  target_kind: entry.target.kind,
  target_id: entry.target.id,
  request_id: entry.requestId,
  before: entry.before === null ? null : JSON.stringify(entry.before),
  after: entry.after === null ? null : JSON.stringify(entry.after),
});

export async function insertEntry(database: Kysely<DB>, entry: AuditEntry): Promise<void> {
  await database.insertInto("audit_entries").values(toRow(entry)).execute();
}

export async function insertEntries(database: Kysely<DB>, entries: AuditEntry[]): Promise<void> {
  const rows = JSON.stringify(entries.map(toRow));
  await sql`
    insert into audit_entries (id, at, actor_issuer, actor_subject, actor_role, on_behalf_of, action, target_kind, target_id,
      request_id, before, after)
    select id, at, actor_issuer, actor_subject, actor_role, on_behalf_of, action, target_kind, target_id,
      request_id, before::json, after::json
    from json_to_recordset(${rows}::json) as entry(id uuid, at timestamptz, actor_issuer text, actor_subject text,
      actor_role text, on_behalf_of text, action text, target_kind text, target_id text, request_id text, before text,
      after text)`.execute(database);
}

export interface AuditFilter {
  onBehalfOf: string | undefined;
  actor: string | undefined;
  action: string | undefined;
}

const [minId, maxId] = ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"];

/** The first given filter, whose column an index begins with. */
function leadingColumn({ onBehalfOf, actor, action }: AuditFilter) {
  if (onBehalfOf !== undefined) return { column: sql.ref("on_behalf_of"), value: onBehalfOf };
  if (actor !== undefined) return { column: sql.ref("actor_subject"), value: actor };
  return action === undefined ? undefined : { column: sql.ref("action"), value: action };
}

/**
 * Finds entries, the newest first. In each partition the rows are one range of one index, and the condition is written as that range: with
 * an equality PostgreSQL may scan the index on `at` instead, and read millions of entries to find those of a rare actor. The bounds of `at`
 * select the partitions. Those of the leading column say nothing new, but PostgreSQL expects few rows of a range with two bounds, and many of
 * row values, so without them it may scan the index on `at`, too.
 */
export async function findEntries(
  database: Kysely<DB>,
  filter: AuditFilter,
  { from, before }: LogRange,
  { after, limit }: PageSlice,
): Promise<AuditEntry[]> {
  const { actor, action } = filter;
  const leading = leadingColumn(filter);
  const key = leading === undefined ? sql`at, id` : sql`${leading.column}, at, id`;
  const rangeKey = (at: Date | string, id: string) =>
    leading === undefined
      ? sql`(${at}::timestamptz, ${id}::uuid)`
      : sql`(${leading.value}::text, ${at}::timestamptz, ${id}::uuid)`;
  const end = before === undefined ? { at: "infinity", id: maxId } : { at: before, id: minId };
  const isWithin = after !== undefined && (before === undefined || new Date(after.at) < before);
  const below = isWithin ? after : end;
  const { rows } = await sql<Selectable<AuditEntries>>`
    select * from audit_entries
    where at >= ${from} and at <= ${below.at}::timestamptz
      and (${key}) < ${rangeKey(below.at, below.id)} and (${key}) >= ${rangeKey(from, minId)}
      ${leading === undefined ? sql`` : sql`and ${leading.column} between ${leading.value} and ${leading.value}`}
      ${actor === undefined ? sql`` : sql`and actor_subject = ${actor}`}
      ${action === undefined ? sql`` : sql`and action = ${action}`}
    order by ${leading === undefined ? sql`` : sql`${leading.column} desc,`} at desc, id desc
    limit ${sql.lit(limit)}`.execute(database);
  return rows.map(entryOf);
}

const entryOf = (row: Selectable<AuditEntries>): AuditEntry => ({
  id: row.id,
  at: row.at.toISOString(),
  actor: { issuer: row.actor_issuer, subject: row.actor_subject, role: row.actor_role },
  onBehalfOf: row.on_behalf_of,
  action: row.action,
  target: { kind: row.target_kind, id: row.target_id },
  requestId: row.request_id,
  before: row.before as AuditEntry["before"],
  after: row.after as AuditEntry["after"],
});

/** The first day that has a partition. No entry is older. */
export async function findOldestDay(database: Kysely<DB>): Promise<Date> {
  const { rows } = await sql<{ day: string | null }>`
    select to_char(to_date(right(min(relname::text), 8), 'YYYYMMDD'), 'YYYY-MM-DD') as day
    from pg_class join pg_inherits on inhrelid = pg_class.oid
    where inhparent = 'public.audit_entries'::regclass`.execute(database);
  return new Date(rows[0]?.day ?? "9999-12-31");
}

const dayOf = (now: Date): string => now.toISOString().slice(0, 10);

export async function createPartitions(database: Kysely<DB>, now: Date): Promise<void> {
  await sql`select prepare_audit_partitions(${dayOf(now)}::date)`.execute(database);
}

/** Returns the name of the dropped partition, or null if none is old enough. */
export async function dropOldestAuditDay(database: Kysely<DB>, now: Date, keptDays: number): Promise<string | null> {
  const { rows } = await sql<{ dropped: string | null }>`
    select drop_oldest_audit_entries(${dayOf(now)}::date, ${keptDays}) as dropped`.execute(database);
  return rows[0]?.dropped ?? null;
}
