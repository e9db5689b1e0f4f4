import type { AuditEntry } from "@ehr-marketplace/contracts";
import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { RequestContext } from "../access/request-context.ts";
import type { DB } from "../database-schema.ts";
import { insertEntry } from "./audit-store.ts";

export interface NewAuditEntry {
  by: RequestContext;
  role: Role;
  at: Date;
  onBehalfOf: string;
  action: string;
  target: { kind: string; id: string };
  /** Must not contain secrets: readers of the audit log may not see them. */
  before: AuditEntry["before"];
  after: AuditEntry["after"];
}

/** Inserts the audit entry in the transaction of the change, so that neither is committed without the other. */
export async function recordAudit(transaction: Transaction<DB>, entry: NewAuditEntry): Promise<void> {
  const { issuer, subject } = entry.by.caller;
  await insertEntry(transaction, {
    id: uuid(),
    at: entry.at.toISOString(),
    actor: { issuer, subject, role: entry.role },
    onBehalfOf: entry.onBehalfOf,
    action: entry.action,
    target: entry.target,
    requestId: entry.by.requestId,
    before: entry.before,
    after: entry.after,
  });
}
