import type { AuditEntry } from "@ehr-marketplace/contracts";
import type { Caller, Role } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { insertEntries, insertEntry } from "./audit-store.ts";

/** Who made a change, and with which request. A background job has those of the request that started it. */
export interface Author {
  caller: Pick<Caller, "issuer" | "subject">;
  requestId: string;
}

export interface NewAuditEntry {
  by: Author;
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
  await insertEntry(transaction, toEntry(entry));
}

/** The same for a batch of changes. */
export async function recordAudits(transaction: Transaction<DB>, entries: NewAuditEntry[]): Promise<void> {
  if (entries.length > 0) await insertEntries(transaction, entries.map(toEntry));
}

function toEntry(entry: NewAuditEntry): AuditEntry {
  const { issuer, subject } = entry.by.caller;
  return {
    id: uuid(),
    at: entry.at.toISOString(),
    actor: { issuer, subject, role: entry.role },
    onBehalfOf: entry.onBehalfOf,
    action: entry.action,
    target: entry.target,
    requestId: entry.by.requestId,
    before: entry.before,
    after: entry.after,
  };
}
