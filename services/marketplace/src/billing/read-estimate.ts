import type { EstimateDto } from "@ehr-marketplace/contracts";
import type { Caller } from "@ehr-marketplace/service-kit/tokens";
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

/** What a subscription costs this month, for everyone who may read it. */
export async function readEstimate(
  { database, clock }: BillingDeps,
  caller: Caller,
  subscriptionId: string,
  vendorNamed: string | undefined,
): Promise<EstimateDto> {
  await requireReadableSubscription(database, caller, subscriptionId, vendorNamed);
  const { currency, month, lines, ...totals } = await estimateSubscription(database, subscriptionId, clock());
  const limit = await findSpendLimit(database, subscriptionId);
  const spendLimit =
    limit === undefined ? null : { amount: Number(limit.amount), currency, onReached: limit.onReached };
  return { month, currency, lines: lines.map(toChargeLine), ...totals, spendLimit };
}
