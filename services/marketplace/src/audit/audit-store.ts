import type { AuditEntry } from "@ehr-marketplace/contracts";
import type { Slice } from "@ehr-marketplace/service-kit/http";
import { type Kysely, type Selectable, sql } from "kysely";
import type { AuditEntries, DB } from "../database-schema.ts";

export async function insertEntry(database: Kysely<DB>, entry: AuditEntry): Promise<void> {
  await database
    .insertInto("audit_entries")
    .values({
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
    })
    .execute();
}

export interface AuditFilter {
  onBehalfOf?: string | undefined;
  actor?: string | undefined;
  action?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

const [minId, maxId] = ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"];

/** The first filter that an index begins with. */
function leadingColumn({ onBehalfOf, actor, action }: AuditFilter) {
  if (onBehalfOf !== undefined) return { column: sql.ref("on_behalf_of"), value: onBehalfOf };
  if (actor !== undefined) return { column: sql.ref("actor_subject"), value: actor };
  return action === undefined ? undefined : { column: sql.ref("action"), value: action };
}

/**
 * The newest first. The rows are one range of one index, and are stated as such, not as an equality: with an equality PostgreSQL
 * may walk the index of the whole log instead, and read millions of entries for the few of a rare actor.
 */
export async function findEntries(
  database: Kysely<DB>,
  filter: AuditFilter,
  { after, limit }: Slice,
): Promise<AuditEntry[]> {
  const { actor, action, from, to } = filter;
  const leading = leadingColumn(filter);
  const key = leading === undefined ? sql`at, id` : sql`${leading.column}, at, id`;
  const place = (at: Date | string, id: string) =>
    leading === undefined
      ? sql`(${at}::timestamptz, ${id}::uuid)`
      : sql`(${leading.value}::text, ${at}::timestamptz, ${id}::uuid)`;
  const end = to === undefined ? { at: "infinity", id: maxId } : { at: to, id: minId };
  const below = after !== undefined && (to === undefined || new Date(after.at) < to) ? after : end;
  const { rows } = await sql<Selectable<AuditEntries>>`
    select * from audit_entries
    where (${key}) < ${place(below.at, below.id)} and (${key}) >= ${place(from ?? "-infinity", minId)}
      ${actor === undefined ? sql`` : sql`and actor_subject = ${actor}`}
      ${action === undefined ? sql`` : sql`and action = ${action}`}
    order by ${leading === undefined ? sql`` : sql`${leading.column} desc,`} at desc, id desc
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
