import type { EventApp } from "@ehr-marketplace/contracts";
import { Problem } from "@ehr-marketplace/service-kit/http";
import { type Caller, findRoleForOrganisation, type Role } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { subscriptionNotFound } from "./read-subscriptions.ts";
import { subscriptionProblems } from "./subscription-errors.ts";
import { lockSubscription } from "./subscription-store.ts";

/** A live subscription, as events show it. */
export interface ReportedSubscription {
  id: string;
  status: "active" | "paused";
  orgAlias: string;
  organisationId: string;
  app: EventApp;
  vendorId: string;
  role: Role;
}

/** Locks the subscription that an EHR reports about, until the transaction ends. Those of other organisations are not found. */
export async function lockReportedSubscription(
  transaction: Transaction<DB>,
  caller: Caller,
  id: string,
): Promise<ReportedSubscription> {
  const locked = await lockSubscription(transaction, id);
  const role = locked && findRoleForOrganisation(caller, locked.row.org_alias, ["ehr-service"]);
  if (locked === undefined || role === undefined) throw subscriptionNotFound();
  const { row, app, vendorId } = locked;
  if (row.status === "cancelled") throw new Problem(subscriptionProblems.cancelled, `Subscription ${id} is cancelled.`);
  return {
    id: row.id,
    status: row.status as "active" | "paused",
    orgAlias: row.org_alias,
    organisationId: row.organisation_id,
    app,
    vendorId,
    role,
  };
}
