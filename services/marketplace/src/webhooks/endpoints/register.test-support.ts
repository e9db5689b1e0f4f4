import assert from "node:assert/strict";
import type { RegisteredWebhookDto } from "@ehr-marketplace/contracts";

type Who = "operator" | "northwind-developer" | "lumen-developer";

/** As much of a running marketplace as registering takes. */
interface Marketplace {
  as(
    who: Who,
    path: string,
    asking?: { method?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<Response>;
}

export const wanted = {
  url: "https://hooks.northwind-health.example/marketplace",
  secret: "correct horse battery staple",
  events: ["subscription.created", "subscription.cancelled"],
};

/** Registers what every test would, except where it says otherwise; an operator does so for the vendor that is named. */
export async function registered(
  marketplace: Marketplace,
  given: { by?: Who; vendor?: string; body?: Record<string, unknown> } = {},
): Promise<RegisteredWebhookDto> {
  const { by = given.vendor === undefined ? "northwind-developer" : "operator", vendor, body = {} } = given;
  const headers: Record<string, string> = vendor === undefined ? {} : { "x-vendor-slug": vendor };
  const answer = await marketplace.as(by, "/developer/webhooks", { body: { ...wanted, ...body }, headers });
  assert.equal(answer.status, 201, await answer.clone().text());
  return (await answer.json()) as RegisteredWebhookDto;
}
