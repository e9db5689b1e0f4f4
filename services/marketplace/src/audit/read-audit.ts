import type { AuditPage, ListAuditQuery, PageQuery } from "@ehr-marketplace/contracts";
import { pageOf, timeInQuery } from "@ehr-marketplace/service-kit/http";
import type { Caller } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import { requireRole } from "../access/role-for.ts";
import type { DB } from "../database-schema.ts";
import { type AuditFilter, findEntries } from "./audit-store.ts";

function listEntries(database: Kysely<DB>, filter: AuditFilter, query: PageQuery): Promise<AuditPage> {
  return pageOf(query, {
    find: (slice) => findEntries(database, filter, slice),
    timeOf: (entry) => new Date(entry.at),
    itemOf: (entry) => entry,
  });
}

export async function readAudit(
  database: Kysely<DB>,
  caller: Caller,
  alias: string,
  query: PageQuery,
): Promise<AuditPage> {
  requireRole(caller, alias, ["org-admin", "operator", "auditor"]);
  return listEntries(database, { onBehalfOf: alias }, query);
}

/** Of all organisations and vendors. Access is the route's: its roles hold everywhere. */
export async function listAudit(database: Kysely<DB>, query: ListAuditQuery): Promise<AuditPage> {
  const { actor, action } = query;
  const [from, to] = [timeInQuery("from", query.from), timeInQuery("to", query.to)];
  return listEntries(database, { actor, action, from, to }, query);
}
