import {
  closePastMonths,
  demoOrganisations,
  insertEhrOrganisations,
  loadDemoData,
  loadPastMonths,
  loadSubscribers,
} from "@ehr-marketplace/dev/demo-data";
import { prepareEhrDatabase, prepareMarketplaceDatabase, prepareWebDatabase } from "@ehr-marketplace/dev/postgres";
import { type TemplateName, withClient } from "@ehr-marketplace/test-kit";
import { demoUrls } from "../support/demo-settings.ts";
import { templates } from "./templates.ts";

/** Enough for statements of years. Each of them has months of lines, which have to be closed. */
const subscribers = 2;

type Prepare = (clusterUrl: string, database: string, mediaDirectory: string) => Promise<{ ownerUrl: string }>;

const prepare: Record<TemplateName, Prepare> = {
  empty: prepareMarketplaceDatabase,
  async demo(clusterUrl, database, mediaDirectory) {
    const prepared = await prepareMarketplaceDatabase(clusterUrl, database);
    await loadDemoData(prepared.ownerUrl, { ...demoUrls, mediaDirectory });
    return prepared;
  },
  async stack(clusterUrl, database) {
    await withClient(clusterUrl, (client) =>
      client.query(`create database ${database} template ${templates.demo.database}`),
    );
    const prepared = await prepareMarketplaceDatabase(clusterUrl, database);
    await loadSubscribers(prepared.ownerUrl, demoUrls.ehrUrl, subscribers);
    await loadPastMonths(prepared.ownerUrl, "riverside-clinic");
    // Otherwise the worker of each stack would.
    await closePastMonths(prepared.ownerUrl);
    return prepared;
  },
  async ehr(clusterUrl, database) {
    const prepared = await prepareEhrDatabase(clusterUrl, database);
    await insertEhrOrganisations(prepared.ownerUrl, demoOrganisations);
    return prepared;
  },
  web: prepareWebDatabase,
};

/** Creates databases that tests clone, one after another, because their migrations create roles of the cluster. */
export async function prepareTemplates(
  clusterUrl: string,
  names: TemplateName[],
  mediaDirectory: string,
): Promise<void> {
  for (const name of names) {
    const { ownerUrl } = await prepare[name](clusterUrl, templates[name].database, mediaDirectory);
    // The clones have these statistics, which autovacuum doesn't collect in a cluster of tests.
    await withClient(ownerUrl, (client) => client.query("vacuum analyze"));
  }
}
