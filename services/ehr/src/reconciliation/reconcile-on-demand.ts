import { Problem, standardProblems } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import { type Actor, recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { isKnownOrganisation } from "../organisations/hold-organisation.ts";
import { MarketplaceAwayError, MarketplaceRefusesError } from "./marketplace-failures.ts";
import { type Reconciled, type Reconciling, reconcile } from "./reconcile.ts";
import { reconciliationProblems } from "./reconciliation-errors.ts";

export interface OnDemand {
  database: Kysely<DB>;
  /** Undefined where no credentials for the marketplace are configured. */
  reconciling: Reconciling | undefined;
}

export async function reconcileOnDemand(
  { database, reconciling }: OnDemand,
  actor: Actor,
  orgAlias: string,
): Promise<Reconciled> {
  if (reconciling === undefined) {
    throw new Problem(reconciliationProblems.notConfigured, "No credentials for the marketplace are configured.");
  }
  if (!(await isKnownOrganisation(database, orgAlias))) {
    throw new Problem(reconciliationProblems.organisationNotFound, "No organisation with that alias is known.");
  }
  await recordAudit(database, {
    actor,
    at: reconciling.clock(),
    onBehalfOf: orgAlias,
    action: "organisation.reconcile",
    target: { kind: "organisation", id: orgAlias },
  });
  try {
    return await reconcile(reconciling, orgAlias);
  } catch (error) {
    if (error instanceof MarketplaceAwayError) {
      const headers = { "retry-after": "30" };
      throw new Problem(standardProblems.unavailable, `Nothing was lost: ${error.message}.`, { headers, cause: error });
    }
    if (error instanceof MarketplaceRefusesError) {
      throw new Problem(reconciliationProblems.refused, `Nothing was lost: ${error.message}.`, { cause: error });
    }
    throw error;
  }
}
