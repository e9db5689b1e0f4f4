import type { AuditEntry } from "@ehr-marketplace/contracts";
import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { Asked } from "../access/role-for.ts";
import type { DB } from "../database-schema.ts";
import { insertEntry } from "./audit-store.ts";

export interface Deed {
  by: Asked;
  as: Role;
  at: Date;
  onBehalfOf: string;
  action: string;
  target: { kind: string; id: string };
  /** Without secrets: whoever reads the log is not who may read those. */
  before: AuditEntry["before"];
  after: AuditEntry["after"];
}

/** Writes down a change in the transaction that makes it: neither is there without the other. */
export async function recordAudit(transaction: Transaction<DB>, deed: Deed): Promise<void> {
  const { issuer, subject } = deed.by.caller;
  await insertEntry(transaction, {
    id: uuid(),
    at: deed.at.toISOString(),
    actor: { issuer, subject, role: deed.as },
    onBehalfOf: deed.onBehalfOf,
    action: deed.action,
    target: deed.target,
    requestId: deed.by.requestId,
    before: deed.before,
    after: deed.after,
  });
}
