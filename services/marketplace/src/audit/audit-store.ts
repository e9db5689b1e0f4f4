import type { AuditEntry } from "@ehr-marketplace/contracts";
import { type Kysely, sql } from "kysely";
import type { DB } from "../database-schema.ts";

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

export async function findEntries(
  database: Kysely<DB>,
  page: { alias: string; limit: number; after: { at: string; id: string } | undefined },
): Promise<AuditEntry[]> {
  const rows = await database
    .selectFrom("audit_entries")
    .selectAll()
    .where("on_behalf_of", "=", page.alias)
    .$if(page.after !== undefined, (query) =>
      query.where(sql<boolean>`(at, id) < (${page.after?.at}::timestamptz, ${page.after?.id}::uuid)`),
    )
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(page.limit)
    .execute();
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
