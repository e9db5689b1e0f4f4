import type { EstimateDto, SpendLimitDto } from "@ehr-marketplace/contracts";
import { type Caller, findRoleForOrganisation, type Role } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { requireReadableSubscription } from "../subscriptions/read-subscriptions.ts";
import { toChargeLine } from "./charge-line.ts";
import { readCredits } from "./credits.ts";
import { estimateSubscription } from "./estimate-subscription.ts";
import { findLimitInForce, type LimitInForce } from "./limit-in-force.ts";
import { findLeastLimit } from "./require-below-spend-limit.ts";
import type { UsageLimits } from "./usage-limits.ts";

export interface BillingDeps {
  database: Kysely<DB>;
  clock: () => Date;
  usageLimits: UsageLimits;
}

const limitReaderRoles: readonly Role[] = ["org-admin", "org-member", "billing", "auditor", "operator"];

/** What a subscription costs this month, for everyone who may read it. */
export async function readEstimate(
  { database, clock, usageLimits }: BillingDeps,
  caller: Caller,
  subscriptionId: string,
  vendorNamed: string | undefined,
): Promise<EstimateDto> {
  const { org_alias: orgAlias, pricing_plan: plan } = await requireReadableSubscription(
    database,
    caller,
    subscriptionId,
    vendorNamed,
  );
  const estimate = await estimateSubscription(database, subscriptionId, clock());
  const { currency, month, lines } = estimate;
  const credits = await readCredits(database, estimate.subscriptionIds, month);
  const credited = -credits.reduce((sum, { line }) => sum + line.amount, 0n);
  // Vendors don't read it: it says how much the practice is prepared to pay.
  const mayReadLimit = findRoleForOrganisation(caller, orgAlias, limitReaderRoles) !== undefined;
  const limit = mayReadLimit ? await findLimitInForce(database, { id: subscriptionId, plan }, usageLimits) : undefined;
  const spendLimit = limit === undefined ? null : toSpendLimit(limit, currency);
  const least = limit && (await findLeastLimit(database, subscriptionId, { limit, month }));
  const leastLimit = least === undefined ? null : Number(least);
  return {
    month,
    currency,
    lines: [...lines.map(toChargeLine), ...credits.map(({ line }) => line)],
    total: estimate.total - credited,
    projectedTotal: estimate.projectedTotal - credited,
    credited,
    spendLimit,
    leastLimit,
  };
}

export const toSpendLimit = (
  { amount, onReached, isDefault }: Pick<LimitInForce, "amount" | "onReached" | "isDefault">,
  currency: string,
): SpendLimitDto => ({ amount: Number(amount), currency, onReached, isDefault });
