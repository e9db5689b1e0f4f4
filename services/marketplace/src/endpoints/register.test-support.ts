import assert from "node:assert/strict";
import type { RegisteredWebhookDto } from "@ehr-marketplace/contracts";

type Who = "operator" | "northwind-developer" | "lumen-developer";

/** The part of a running marketplace that registering needs. */
interface Marketplace {
  requestAs(
    who: Who,
    path: string,
    asking?: { method?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<Response>;
}

export const endpointBody = {
  url: "https://hooks.northwind-health.example/marketplace",
  secret: "correct horse battery staple",
  events: ["subscription.created", "subscription.cancelled"],
};

/** Registers an endpoint with default values, which `body` overrides; an operator does so for the given vendor. */
export async function registered(
  marketplace: Marketplace,
  given: { by?: Who; vendor?: string; body?: Record<string, unknown> } = {},
): Promise<RegisteredWebhookDto> {
  const { by = given.vendor === undefined ? "northwind-developer" : "operator", vendor, body = {} } = given;
  const headers: Record<string, string> = vendor === undefined ? {} : { "x-vendor-slug": vendor };
  const response = await marketplace.requestAs(by, "/developer/webhooks", {
    body: { ...endpointBody, ...body },
    headers,
  });
  assert.equal(response.status, 201, await response.clone().text());
  return (await response.json()) as RegisteredWebhookDto;
}
