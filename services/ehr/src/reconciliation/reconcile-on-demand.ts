import { Problem, standardProblems } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import { type Actor, recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { organisationNotFound } from "../organisations/organisation-errors.ts";
import { isKnownOrganisation } from "../organisations/reconciliation-state.ts";
import { type ReconciliationDeps, type ReconciliationResult, reconcile } from "./reconcile.ts";
import {
  MarketplaceRefusalError,
  MarketplaceUnavailableError,
  reconciliationProblems,
} from "./reconciliation-errors.ts";

export interface OnDemandDeps {
  database: Kysely<DB>;
  /** Undefined where no credentials for the marketplace are configured. */
  reconciliation: ReconciliationDeps | undefined;
}

export async function reconcileOnDemand(
  { database, reconciliation }: OnDemandDeps,
  actor: Actor,
  orgAlias: string,
): Promise<ReconciliationResult> {
  if (reconciliation === undefined) {
    throw new Problem(reconciliationProblems.notConfigured, "No credentials for the marketplace are configured.");
  }
  if (!(await isKnownOrganisation(database, orgAlias))) throw organisationNotFound();
  await recordAudit(database, {
    actor,
    at: reconciliation.clock(),
    onBehalfOf: orgAlias,
    action: "organisation.reconcile",
    target: { kind: "organisation", id: orgAlias },
  });
  try {
    return await reconcile(reconciliation, orgAlias);
  } catch (error) {
    if (error instanceof MarketplaceUnavailableError) {
      const headers = { "retry-after": "30" };
      throw new Problem(standardProblems.unavailable, `Nothing was changed: ${error.message}.`, {
        headers,
        cause: error,
      });
    }
    if (error instanceof MarketplaceRefusalError) {
      throw new Problem(reconciliationProblems.refused, `Nothing was changed: ${error.message}.`, { cause: error });
    }
    throw error;
  }
}
