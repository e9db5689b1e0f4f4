import assert from "node:assert/strict";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";

type Who = "operator" | "riverside-admin" | "hilltop-admin";

/** As much of a running marketplace as subscribing takes. */
interface Marketplace {
  as(
    who: Who,
    path: string,
    asking?: { method?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<Response>;
  plans(appSlug: string): Promise<{ id: string; pricingModel: string }[]>;
}

interface Wanted {
  by?: Who;
  orgAlias?: string;
  /** The first plan of this model; without it, the first plan. */
  model?: string;
  quantity?: unknown;
  headers?: Record<string, string>;
}

export async function planOf(marketplace: Marketplace, appSlug: string, model?: string): Promise<string> {
  const plans = await marketplace.plans(appSlug);
  const plan = plans.find(({ pricingModel }) => model === undefined || pricingModel === model);
  assert.ok(plan, `${appSlug} has no plan ${model}`);
  return plan.id;
}

export async function subscribe(marketplace: Marketplace, appSlug: string, wanted: Wanted = {}): Promise<Response> {
  const { by = "riverside-admin", orgAlias = "riverside-clinic", model, quantity, headers = {} } = wanted;
  const pricingPlanId = await planOf(marketplace, appSlug, model);
  const body = { appSlug, orgAlias, pricingPlanId, ...(quantity === undefined ? {} : { quantity }) };
  return marketplace.as(by, "/subscriptions", { body, headers });
}

export async function subscribed(
  marketplace: Marketplace,
  appSlug: string,
  wanted: Wanted = {},
): Promise<SubscriptionDto> {
  const answer = await subscribe(marketplace, appSlug, wanted);
  assert.equal(answer.status, 201, await answer.clone().text());
  return (await answer.json()) as SubscriptionDto;
}
