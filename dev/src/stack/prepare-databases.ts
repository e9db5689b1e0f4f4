import { demoOrganisations } from "../demo-data/demo-organisations.ts";
import { insertEhrOrganisations } from "../demo-data/insert-ehr-organisations.ts";
import { prepareEhrDatabase } from "../postgres/ehr-database.ts";
import { prepareMarketplaceDatabase } from "../postgres/marketplace-database.ts";
import { dropDatabase, type ServiceDatabase } from "../postgres/service-database.ts";

export interface StackDatabases {
  marketplace: ServiceDatabase;
  ehr: ServiceDatabase;
  /** For those that are to be gone afterwards. */
  drop(): Promise<void>;
}

/** Each service has a database of its own. The EHR's knows the demo practices by the secrets that the marketplace signs with. */
export async function prepareDatabases(clusterUrl: string, suffix: string): Promise<StackDatabases> {
  const names = { marketplace: `marketplace${suffix}`, ehr: `ehr${suffix}` };
  const marketplace = await prepareMarketplaceDatabase(clusterUrl, names.marketplace);
  const ehr = await prepareEhrDatabase(clusterUrl, names.ehr);
  await insertEhrOrganisations(ehr.ownerUrl, demoOrganisations);
  return {
    marketplace,
    ehr,
    async drop() {
      for (const name of Object.values(names)) await dropDatabase(clusterUrl, name);
    },
  };
}
