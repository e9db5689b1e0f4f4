import { findReconciledOrganisation } from "../organisations/reconciliation-state.ts";
import { findEpoch, noteEpoch } from "../subscriptions/marketplace-epoch.ts";
import type { ReconciliationDeps } from "./reconcile.ts";

/**
 * Notes the position of the marketplace's database. Files that are put back are told only by a lower position, and only until the
 * marketplace has written as much as the copy lacks. So it is looked at far more often than every night, when organisations are reconciled.
 */
export async function watchEpoch(deps: ReconciliationDeps): Promise<void> {
  const orgAlias = await findReconciledOrganisation(deps.database);
  if (orgAlias === undefined) return;
  const seen = await findEpoch(deps.database);
  const { epochs } = await deps.listSubscriptions(orgAlias, { pages: 1 });
  await noteEpoch(deps, seen, epochs);
}
