import { type CleanUp, cloneDatabase } from "@ehr-marketplace/test-kit";
import type { Callers } from "@ehr-marketplace/tests/support/callers";
import { startEhr } from "@ehr-marketplace/tests/support/ehr";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";

/** Starts both services on separate databases; the EHR is configured to call the marketplace. */
export async function startBothServices(cleanUp: CleanUp, callers: Callers, environment: Record<string, string> = {}) {
  const [marketplaces, ehrs] = [await cloneDatabase(cleanUp, "demo"), await cloneDatabase(cleanUp, "ehr")];
  const marketplace = await startMarketplace(cleanUp, marketplaces.serviceUrl, {
    ...callers.environment,
    VENDOR_ALLOWED_NETWORKS: "127.0.0.0/8",
    ...environment,
  });
  const ehr = await startEhr(cleanUp, ehrs.serviceUrl, {
    ...callers.environment,
    MARKETPLACE_URL: `${marketplace.url}/api/v1`,
    MARKETPLACE_TOKEN_URL: `${callers.identityProvider.issuer}/token`,
    MARKETPLACE_CLIENT_ID: "ehr-service",
    MARKETPLACE_CLIENT_SECRET: "development-only",
    ...environment,
  });
  return { marketplace, ehr, ehrOwnerUrl: ehrs.ownerUrl };
}
