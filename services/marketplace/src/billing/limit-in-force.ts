import type { PricingPlanDto } from "@ehr-marketplace/contracts";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import type { SpendLimit } from "./spend-limit.ts";
import { deferLimit, findSpendLimit, type StoredLimit } from "./spend-limit-store.ts";
import type { UsageLimits } from "./usage-limits.ts";

/** The limit that a practice has set, or the operator's default. */
export interface LimitInForce extends SpendLimit, Partial<Pick<StoredLimit, "setBy" | "updatedAt">> {
  isDefault: boolean;
}

type LimitedPlan = Pick<PricingPlanDto, "pricingModel" | "currency">;

/** Without an entry for the currency, usage may cost nothing: a plan that is approved has one. */
export const defaultLimit = (limits: UsageLimits, currency: string): LimitInForce => ({
  amount: limits.get(currency) ?? 0n,
  onReached: "pause",
  isDefault: true,
});

/** Undefined: the plan charges no usage, and the practice has set no limit. */
export async function findLimitInForce(
  database: Kysely<DB>,
  { id, plan }: { id: string; plan: LimitedPlan },
  limits: UsageLimits,
): Promise<LimitInForce | undefined> {
  const stored = await findSpendLimit(database, id);
  if (stored !== undefined) return { ...stored, isDefault: false };
  return plan.pricingModel === "USAGE" ? defaultLimit(limits, plan.currency) : undefined;
}

/** For usage, also that of an earlier plan. It is read with the next statement. */
export async function deferUsageLimit(
  transaction: Transaction<DB>,
  { id, currency }: { id: string; currency: string },
  limits: UsageLimits,
): Promise<() => Promise<LimitInForce>> {
  const readLimit = await deferLimit(transaction, id);
  return async () => {
    const stored = await readLimit();
    return stored === undefined ? defaultLimit(limits, currency) : { ...stored, isDefault: false };
  };
}
