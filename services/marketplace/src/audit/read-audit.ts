import type { AuditPage, PageQuery } from "@ehr-marketplace/contracts";
import { cursorOf, invalidCursor, readCursor } from "@ehr-marketplace/service-kit/http";
import type { Caller } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import { validate as isUuid } from "uuid";
import { requireRole } from "../access/role-for.ts";
import type { DB } from "../database-schema.ts";
import { findEntries } from "./audit-store.ts";

const mostEntries = 1_000;

// The year 0 and years of more digits are dates to JavaScript, and an error to PostgreSQL.
const writtenTime = /^(?!0000)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

function placeOf(cursor: string): { at: string; id: string } {
  const [at = "", id = ""] = readCursor(cursor, 2);
  const isTime = writtenTime.test(at) && !Number.isNaN(Date.parse(at)) && new Date(at).toISOString() === at;
  if (!isTime || !isUuid(id)) throw invalidCursor();
  return { at, id };
}

export async function readAudit(
  database: Kysely<DB>,
  caller: Caller,
  alias: string,
  query: PageQuery,
): Promise<AuditPage> {
  requireRole(caller, alias, ["org-admin", "operator"]);
  const limit = Math.min(query.limit, mostEntries);
  const after = query.after === undefined ? undefined : placeOf(query.after);
  const found = await findEntries(database, { alias, limit: limit + 1, after });
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items, next: found.length > limit && last !== undefined ? cursorOf(last.at, last.id) : null };
}
