import assert from "node:assert/strict";
import type { PricingPlanDto, SubscriptionDto } from "@ehr-marketplace/contracts";
import type { IdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { type CleanUp, cloneDatabase, type NetworkFaultProxy, startNetworkFaultProxy } from "@ehr-marketplace/test-kit";
import { type Callers, fetchCallers, sendApiRequest, sendRequest } from "./callers.ts";
import { demoSettings } from "./demo-settings.ts";
import { startEhr } from "./ehr.ts";
import { startMarketplace } from "./marketplace.ts";
import { type RunningWeb, startWeb } from "./web.ts";

const orgAlias = "riverside-clinic";

/** The web with both APIs and its database behind proxies that a test interrupts, and an identity provider that it stops. */
export interface InterruptibleWeb {
  web: RunningWeb;
  provider: IdentityProvider;
  callers: Callers;
  /** Directly, past the proxy. */
  marketplaceUrl: string;
  /** Subscribes Riverside Clinic to the first plan of an app, and has its EHR install the app. */
  subscribe(appSlug: string): Promise<SubscriptionDto>;
  marketplace: NetworkFaultProxy;
  ehr: NetworkFaultProxy;
  database: NetworkFaultProxy;
}

export async function startInterruptibleWeb(cleanUp: CleanUp): Promise<InterruptibleWeb> {
  const { startIdentityProvider } = await import("@ehr-marketplace/dev/identity-provider");
  const provider = await startIdentityProvider({ port: 0 });
  cleanUp(() => provider.stop());
  const callers = await fetchCallers(provider);
  const [marketplaces, ehrs, webs] = [
    await cloneDatabase(cleanUp, "demo"),
    await cloneDatabase(cleanUp, "ehr"),
    await cloneDatabase(cleanUp, "web"),
  ];
  const { url: marketplaceUrl } = await startMarketplace(cleanUp, marketplaces.serviceUrl, callers.environment);
  const { url: ehrUrl } = await startEhr(cleanUp, ehrs.serviceUrl, {
    ...callers.environment,
    MARKETPLACE_URL: `${marketplaceUrl}/api/v1`,
    MARKETPLACE_TOKEN_URL: `${provider.issuer}/token`,
    MARKETPLACE_CLIENT_ID: "ehr-service",
    MARKETPLACE_CLIENT_SECRET: "development-only",
  });
  const marketplace = await startNetworkFaultProxy(cleanUp, marketplaceUrl);
  const ehr = await startNetworkFaultProxy(cleanUp, ehrUrl);
  const database = await startNetworkFaultProxy(cleanUp, webs.serviceUrl);
  const web = await startWeb(cleanUp, {
    marketplaceUrl: new URL(marketplace.url).origin,
    ehrUrl: new URL(ehr.url).origin,
    identityProvider: provider,
    database: webs,
    databaseUrl: database.url,
    environment: { MEDIA_ORIGIN: demoSettings.publicUrl },
  });

  async function subscribe(appSlug: string): Promise<SubscriptionDto> {
    const pricing = await sendApiRequest(marketplaceUrl, `/apps/${appSlug}/pricing`, undefined);
    const [plan] = (await pricing.json()) as PricingPlanDto[];
    const body = { appSlug, orgAlias, pricingPlanId: plan?.id };
    const created = await sendApiRequest(marketplaceUrl, "/subscriptions", callers.token("riverside-admin"), { body });
    assert.equal(created.status, 201);
    const reconcile = `${ehrUrl}/api/admin/organisations/${orgAlias}/reconcile`;
    assert.equal((await sendRequest(reconcile, callers.token("operator"), { method: "POST" })).status, 200);
    return (await created.json()) as SubscriptionDto;
  }
  return { web, provider, callers, marketplaceUrl, subscribe, marketplace, ehr, database };
}
