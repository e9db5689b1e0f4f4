import { dropDatabase, type ServiceDatabase } from "@ehr-marketplace/test-kit";
import { demoOrganisations } from "../demo-data/demo-organisations.ts";
import { insertEhrOrganisations } from "../demo-data/insert-ehr-organisations.ts";
import { prepareEhrDatabase } from "../postgres/ehr-database.ts";
import { prepareMarketplaceDatabase } from "../postgres/marketplace-database.ts";
import { prepareWebDatabase } from "../postgres/web-database.ts";

export interface StackDatabases {
  marketplace: ServiceDatabase;
  ehr: ServiceDatabase;
  web: ServiceDatabase;
  /** Drops the databases of an ephemeral stack. */
  drop(): Promise<void>;
}

/** Creates and migrates one database per service, and inserts the demo practices with their signing secrets into the EHR's. */
export async function prepareDatabases(clusterUrl: string, suffix: string): Promise<StackDatabases> {
  const names = { marketplace: `marketplace${suffix}`, ehr: `ehr${suffix}`, web: `web${suffix}` };
  const marketplace = await prepareMarketplaceDatabase(clusterUrl, names.marketplace);
  const ehr = await prepareEhrDatabase(clusterUrl, names.ehr);
  const web = await prepareWebDatabase(clusterUrl, names.web);
  await insertEhrOrganisations(ehr.ownerUrl, demoOrganisations);
  return {
    marketplace,
    ehr,
    web,
    async drop() {
      for (const name of Object.values(names)) await dropDatabase(clusterUrl, name);
    },
  };
}
