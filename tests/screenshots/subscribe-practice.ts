import { strict as assert } from "node:assert";
import { requestAccessToken } from "@ehr-marketplace/dev/identity-provider/client";
import { eventually } from "@ehr-marketplace/test-kit";
import type { DevStack } from "@ehr-marketplace/tests/support/dev-stack";

interface Plan {
  id: string;
  pricingModel: string;
}

/** What the practice of the pictures has: some apps, of which one is paused, and one was cancelled. */
const subscriptions: { slug: string; plan?: number; quantity?: number; action?: "pause" | "cancel" }[] = [
  { slug: "northwind-scribe", plan: 1, quantity: 5 },
  { slug: "northwind-referrals" },
  { slug: "discharge-bridge" },
  { slug: "zurich-rounds", action: "pause" },
  { slug: "operative-quill", action: "cancel" },
];

/** Subscribes Riverside Clinic to some apps, and waits until they are installed. */
export async function subscribePractice({ marketplaceUrl, ehrUrl, ports }: DevStack): Promise<void> {
  const token = await requestAccessToken(`http://127.0.0.1:${ports.IDP_PORT}`, "riverside-admin");
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const send = async <T>(path: string, body?: object): Promise<T> => {
    const request = { headers, ...(body && { method: "POST", body: JSON.stringify(body) }) };
    const response = await fetch(`${marketplaceUrl}/api/v1${path}`, request);
    assert.ok(response.ok, `${response.status} for ${path}: ${response.ok ? "" : await response.text()}`);
    return (await response.json()) as T;
  };
  for (const { slug, plan: nth = 0, quantity = 3, action } of subscriptions) {
    const plans = await send<Plan[]>(`/apps/${slug}/pricing`);
    const plan = plans[nth] ?? assert.fail(`${slug} has no plan ${nth}`);
    const units = ["PER_UNIT", "TIERED"].includes(plan.pricingModel) ? { quantity } : {};
    const body = { appSlug: slug, orgAlias: "riverside-clinic", pricingPlanId: plan.id, ...units };
    const { id } = await send<{ id: string }>("/subscriptions", body);
    if (action === "pause") await send(`/subscriptions/${id}/pause`, { reason: "ORG_REQUEST" });
    if (action === "cancel") await send(`/subscriptions/${id}/cancel`, {});
  }
  const isInstalled = async ({ slug }: { slug: string }): Promise<boolean> =>
    (await fetch(`${ehrUrl}/api/app-installations/${slug}`, { headers })).ok;
  for (const subscription of subscriptions.filter(({ action }) => action !== "cancel")) {
    await eventually(`${subscription.slug} is installed`, 120_000, () => isInstalled(subscription));
  }
}
