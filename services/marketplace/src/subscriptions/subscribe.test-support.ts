import assert from "node:assert/strict";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";

type Who = "operator" | "riverside-admin" | "hilltop-admin";

/** The part of a running marketplace that subscribing needs. */
interface Marketplace {
  requestAs(
    who: Who,
    path: string,
    options?: { method?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<Response>;
  plans(appSlug: string): Promise<{ id: string; pricingModel: string }[]>;
}

interface SubscribeOptions {
  by?: Who;
  orgAlias?: string;
  /** Selects the first plan of this model. Default: the first plan. */
  model?: string;
  quantity?: unknown;
  /** Optional fields of the body. */
  more?: { fhirScopes?: string; acceptBaa?: unknown; baaSha256?: string; spendLimit?: object };
  headers?: Record<string, string>;
}

export async function planOf(marketplace: Marketplace, appSlug: string, model?: string): Promise<string> {
  const plans = await marketplace.plans(appSlug);
  const plan = plans.find(({ pricingModel }) => model === undefined || pricingModel === model);
  assert.ok(plan, `${appSlug} has no plan ${model}`);
  return plan.id;
}

export async function subscribe(
  marketplace: Marketplace,
  appSlug: string,
  options: SubscribeOptions = {},
): Promise<Response> {
  const { by = "riverside-admin", orgAlias = "riverside-clinic", model, quantity, more, headers = {} } = options;
  const pricingPlanId = await planOf(marketplace, appSlug, model);
  const body = { appSlug, orgAlias, pricingPlanId, ...(quantity === undefined ? {} : { quantity }), ...more };
  return marketplace.requestAs(by, "/subscriptions", { body, headers });
}

export async function subscribed(
  marketplace: Marketplace,
  appSlug: string,
  options: SubscribeOptions = {},
): Promise<SubscriptionDto> {
  const response = await subscribe(marketplace, appSlug, options);
  assert.equal(response.status, 201, await response.clone().text());
  return (await response.json()) as SubscriptionDto;
}
