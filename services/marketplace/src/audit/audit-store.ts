import type { AuditEntry } from "@ehr-marketplace/contracts";
import { executeDeferred } from "@ehr-marketplace/service-kit/database";
import type { PageSlice } from "@ehr-marketplace/service-kit/http";
import { type Kysely, type Selectable, sql, type Transaction } from "kysely";
import type { AuditEntries, DB } from "../database-schema.ts";

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

export async function insertEntry(database: Transaction<DB>, entry: AuditEntry): Promise<void> {
  const statement = database.insertInto("audit_entries").values(toRow(entry));
  await executeDeferred(database, "insert-audit-entry", statement);
}

export async function insertEntries(database: Transaction<DB>, entries: AuditEntry[]): Promise<void> {
  const rows = JSON.stringify(entries.map(toRow));
  const statement = sql`
    insert into audit_entries (id, at, actor_issuer, actor_subject, actor_role, on_behalf_of, action, target_kind, target_id,
      request_id, before, after)
    select id, at, actor_issuer, actor_subject, actor_role, on_behalf_of, action, target_kind, target_id,
      request_id, before::json, after::json
    from json_to_recordset(${rows}::json) as entry(id uuid, at timestamptz, actor_issuer text, actor_subject text,
      actor_role text, on_behalf_of text, action text, target_kind text, target_id text, request_id text, before text,
      after text)`;
  await executeDeferred(database, "insert-audit-entries", statement);
}

/** `actor` is for the whole log, `targetId` for that of an organisation: there is an index for each such combination. */
export interface AuditFilter {
  onBehalfOf?: string | undefined;
  actor?: string | undefined;
  targetId?: string | undefined;
  action?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

const [minId, maxId] = ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"];

/** The filters that are leading columns of an index, in its order. */
function leadingColumns({ onBehalfOf, actor, targetId, action }: AuditFilter): [column: string, value: string][] {
  const columns: [string, string | undefined][] = [
    ["on_behalf_of", onBehalfOf],
    ["actor_subject", actor],
    ["target_id", targetId],
    ["action", action],
  ];
  return columns.flatMap(([column, value]): [string, string][] => (value === undefined ? [] : [[column, value]]));
}

/**
 * Newest first. The condition is one range of row values on one index, not an equality: for an equality PostgreSQL may choose the
 * index of the whole log, and read millions of entries to find the few of a rare actor.
 */
export async function findEntries(
  database: Kysely<DB>,
  filter: AuditFilter,
  { after, limit }: PageSlice,
): Promise<AuditEntry[]> {
  const { from, to } = filter;
  const leading = leadingColumns(filter);
  const columns = [...leading.map(([column]) => column), "at", "id"].map((column) => sql.ref(column));
  const key = sql.join(columns);
  const values = leading.map(([, value]) => sql`${value}::text`);
  const keyAt = (at: Date | string, id: string) =>
    sql`(${sql.join([...values, sql`${at}::timestamptz`, sql`${id}::uuid`])})`;
  const end = to === undefined ? { at: "infinity", id: maxId } : { at: to, id: minId };
  const below = after !== undefined && (to === undefined || new Date(after.at) < to) ? after : end;
  const { rows } = await sql<Selectable<AuditEntries>>`
    select * from audit_entries
    where (${key}) < ${keyAt(below.at, below.id)} and (${key}) >= ${keyAt(from ?? "-infinity", minId)}
    order by ${sql.join(columns.map((column) => sql`${column} desc`))}
    limit ${sql.lit(limit)}`.execute(database);
  return rows.map((row) => ({
    id: row.id,
    at: row.at.toISOString(),
    actor: { issuer: row.actor_issuer, subject: row.actor_subject, role: row.actor_role },
    onBehalfOf: row.on_behalf_of,
    action: row.action,
    target: { kind: row.target_kind, id: row.target_id },
    requestId: row.request_id,
    before: row.before as Record<string, unknown> | null,
    after: row.after as Record<string, unknown> | null,
  }));
}
