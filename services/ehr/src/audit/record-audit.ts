import type { AuditEntry } from "@ehr-marketplace/contracts";
import { getCaller } from "@ehr-marketplace/service-kit/http";
import { findRoleForOrganisation, type Role } from "@ehr-marketplace/service-kit/tokens";
import type { FastifyRequest } from "fastify";
import type { Kysely } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { insertEntries, insertEntry } from "./audit-store.ts";

/** The caller of a request, with the role that allowed it. */
export interface Actor {
  issuer: string;
  subject: string;
  role: Role;
  requestId: string;
}

/** The actor's role is the first of `roles` that allows the caller to act for the organisation. */
export function actorOf(request: FastifyRequest, orgAlias: string, roles: readonly Role[]): Actor {
  const caller = getCaller(request);
  const role = findRoleForOrganisation(caller, orgAlias, roles) ?? roles.find((each) => caller.roles.has(each));
  if (role === undefined) throw new Error(`the caller has none of the roles ${roles.join(", ")}`);
  return { issuer: caller.issuer, subject: caller.subject, role, requestId: request.id };
}

/** For routes that only operators may call. */
export function operatorOf(request: FastifyRequest): Actor {
  const { issuer, subject } = getCaller(request);
  return { issuer, subject, role: "operator", requestId: request.id };
}

export interface AuditedAction {
  actor: Actor;
  at: Date;
  onBehalfOf: string;
  action: string;
  target: AuditEntry["target"];
  /** Never a patient's id, a launch, a secret or a value of a configuration: readers of the log aren't allowed to read those. */
  before?: AuditEntry["before"];
  after?: AuditEntry["after"];
}

/** Called in the transaction of the change, so that neither is stored without the other. */
export async function recordAudit(database: Kysely<DB>, audited: AuditedAction): Promise<void> {
  await insertEntry(database, toEntry(audited));
}

/** The same for a batch of changes. */
export async function recordAudits(database: Kysely<DB>, audited: AuditedAction[]): Promise<void> {
  if (audited.length > 0) await insertEntries(database, audited.map(toEntry));
}

function toEntry(audited: AuditedAction): AuditEntry {
  const { actor, at, onBehalfOf, action, target, before = null, after = null } = audited;
  const { requestId, ...who } = actor;
  return { id: uuid(), at: at.toISOString(), actor: who, onBehalfOf, action, target, requestId, before, after };
}
