import type { AuditPage, ListAuditQuery, PageQuery, ReadAuditQuery } from "@ehr-marketplace/contracts";
import { listPage, parseQueryTime } from "@ehr-marketplace/service-kit/http";
import type { Caller } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import { requireRole } from "../access/require-role.ts";
import type { DB } from "../database-schema.ts";
import { type AuditFilter, findEntries } from "./audit-store.ts";

function listEntries(database: Kysely<DB>, filter: AuditFilter, query: PageQuery): Promise<AuditPage> {
  return listPage(query, {
    find: (slice) => findEntries(database, filter, slice),
    getTime: (entry) => new Date(entry.at),
    toItem: (entry) => entry,
  });
}

const timesOf = ({ from, to }: Pick<ListAuditQuery, "from" | "to">): Pick<AuditFilter, "from" | "to"> => ({
  from: parseQueryTime("from", from),
  to: parseQueryTime("to", to),
});

export async function readAudit(
  database: Kysely<DB>,
  caller: Caller,
  alias: string,
  query: ReadAuditQuery,
): Promise<AuditPage> {
  requireRole(caller, alias, ["org-admin", "operator", "auditor"]);
  const { action, targetId } = query;
  return listEntries(database, { onBehalfOf: alias, action, targetId, ...timesOf(query) }, query);
}

/** Lists entries of all organisations and vendors. The route checks access: its roles aren't bound to an organisation. */
export async function listAudit(database: Kysely<DB>, query: ListAuditQuery): Promise<AuditPage> {
  const { actor, action } = query;
  return listEntries(database, { actor, action, ...timesOf(query) }, query);
}
