import type { PricingPlanDto } from "@ehr-marketplace/contracts";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { findPlans } from "./account-store.ts";

/** A published plan never changes, so plans can be kept between reads. */
export type KnownPlans = Map<string, PricingPlanDto>;

/** Reads those that aren't known yet. */
export async function addPlans(database: Kysely<DB>, plans: KnownPlans, needed: readonly string[]): Promise<void> {
  const unknown = [...new Set(needed)].filter((id) => !plans.has(id));
  if (unknown.length > 0) for (const plan of await findPlans(database, unknown)) plans.set(plan.id, plan);
}

export function getKnownPlan(plans: KnownPlans, id: string): PricingPlanDto {
  const plan = plans.get(id);
  if (plan === undefined) throw new Error(`plan ${id} is missing`);
  return plan;
}
