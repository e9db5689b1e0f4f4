import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import type { CleanUp } from "@ehr-marketplace/test-kit";
import { cloneDatabase } from "@ehr-marketplace/test-kit";
import { type Callers, fetchCallers, type RequestOptions, sendApiRequest } from "./callers.ts";
import { type RunningMarketplace, startMarketplace } from "./marketplace.ts";

export interface MarketplaceWithCallers extends RunningMarketplace {
  callers: Callers;
  database: Awaited<ReturnType<typeof cloneDatabase>>;
  /** Sends a request as one of the identity provider's personas; null sends no token. */
  requestAs: (persona: Persona | null, path: string, options?: RequestOptions) => Promise<Response>;
  /** Fetches an app's pricing plans from the catalog. */
  plans(appSlug: string): Promise<{ id: string; pricingModel: string; trialDays: number }[]>;
}

/** Starts the marketplace with the demo catalog and both demo organisations; it accepts the tokens of the shared identity provider. */
export async function startMarketplaceWithCallers(
  cleanUp: CleanUp,
  environment: Record<string, string> = {},
  resolver?: Parameters<typeof startMarketplace>[3],
): Promise<MarketplaceWithCallers> {
  const callers = await fetchCallers();
  const database = await cloneDatabase(cleanUp, "demo");
  const merged = { ...callers.environment, ...environment };
  const running = await startMarketplace(cleanUp, database.serviceUrl, merged, resolver);
  return {
    ...running,
    callers,
    database,
    requestAs: (persona, path, options) =>
      sendApiRequest(running.url, path, persona === null ? undefined : callers.token(persona), options),
    plans: async (slug) =>
      (await (await running.get(`/apps/${slug}/pricing`)).json()) as Awaited<
        ReturnType<MarketplaceWithCallers["plans"]>
      >,
  };
}
