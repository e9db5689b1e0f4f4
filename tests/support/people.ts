import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import { type Asking, ask, type Callers, startCallers } from "./callers.ts";
import type { CleanUp } from "./clean-up.ts";
import { cloneDatabase } from "./databases.ts";
import { type RunningMarketplace, startMarketplace } from "./marketplace.ts";

export interface PeopledMarketplace extends RunningMarketplace {
  callers: Callers;
  database: Awaited<ReturnType<typeof cloneDatabase>>;
  /** Asks as one of the identity provider's personas; null: without a token. */
  as: (persona: Persona | null, path: string, asking?: Asking) => Promise<Response>;
  /** An app's plans, as the catalog shows them. */
  plans(appSlug: string): Promise<{ id: string; pricingModel: string; trialDays: number }[]>;
}

/** The marketplace with the demo catalog, both demo organisations, and everyone who may want something from it. */
export async function startPeopledMarketplace(
  cleanUp: CleanUp,
  environment: Record<string, string> = {},
  resolver?: Parameters<typeof startMarketplace>[3],
): Promise<PeopledMarketplace> {
  const callers = await startCallers(cleanUp);
  const database = await cloneDatabase(cleanUp, "demo");
  const told = { ...callers.environment, ...environment };
  const running = await startMarketplace(cleanUp, database.serviceUrl, told, resolver);
  return {
    ...running,
    callers,
    database,
    as: (persona, path, asking) =>
      ask(running.url, path, persona === null ? undefined : callers.token(persona), asking),
    plans: async (slug) =>
      (await (await running.get(`/apps/${slug}/pricing`)).json()) as Awaited<ReturnType<PeopledMarketplace["plans"]>>,
  };
}
