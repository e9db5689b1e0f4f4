import type { EstimateDto } from "@ehr-marketplace/contracts";
import { type Caller, findRoleForOrganisation, type Role } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { requireReadableSubscription } from "../subscriptions/read-subscriptions.ts";
import { toChargeLine } from "./charge-line.ts";
import { estimateSubscription } from "./estimate-subscription.ts";
import { findSpendLimit } from "./spend-limit-store.ts";

export interface BillingDeps {
  database: Kysely<DB>;
  clock: () => Date;
}

const limitReaderRoles: readonly Role[] = ["org-admin", "org-member", "billing", "auditor", "operator"];

/** What a subscription costs this month, for everyone who may read it. */
export async function readEstimate(
  { database, clock }: BillingDeps,
  caller: Caller,
  subscriptionId: string,
  vendorNamed: string | undefined,
): Promise<EstimateDto> {
  const { org_alias: orgAlias } = await requireReadableSubscription(database, caller, subscriptionId, vendorNamed);
  const estimate = await estimateSubscription(database, subscriptionId, clock());
  const { currency, month, lines, total, projectedTotal } = estimate;
  // Vendors don't read it: it says how much the practice is prepared to pay.
  const mayReadLimit = findRoleForOrganisation(caller, orgAlias, limitReaderRoles) !== undefined;
  const limit = mayReadLimit ? await findSpendLimit(database, subscriptionId) : undefined;
  const spendLimit =
    limit === undefined ? null : { amount: Number(limit.amount), currency, onReached: limit.onReached };
  return { month, currency, lines: lines.map(toChargeLine), total, projectedTotal, spendLimit };
}
