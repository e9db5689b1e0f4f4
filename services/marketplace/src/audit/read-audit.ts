import type { AuditPage, PageQuery } from "@ehr-marketplace/contracts";
import { pageOf } from "@ehr-marketplace/service-kit/http";
import type { Caller } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import { requireRole } from "../access/role-for.ts";
import type { DB } from "../database-schema.ts";
import { findEntries } from "./audit-store.ts";

export async function readAudit(
  database: Kysely<DB>,
  caller: Caller,
  alias: string,
  query: PageQuery,
): Promise<AuditPage> {
  requireRole(caller, alias, ["org-admin", "operator"]);
  return pageOf(query, {
    find: (slice) => findEntries(database, { alias, ...slice }),
    timeOf: (entry) => new Date(entry.at),
    itemOf: (entry) => entry,
  });
}
