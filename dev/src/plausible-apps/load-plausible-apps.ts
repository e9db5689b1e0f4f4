import { refreshSearchRanks } from "@ehr-marketplace/marketplace/rank-catalog";
import { withClient } from "@ehr-marketplace/test-kit";
import { insertApps, insertPlans, insertVendors, publishApps, setPopularity } from "../catalog/insert-catalog.ts";
import { withDatabase } from "../catalog/with-database.ts";
import { Chance, plausibleApp, plausibleVendor } from "./plausible-apps.ts";

const batchSize = 1_000;
const appsPerVendor = 20;

export interface LoadOptions {
  count: number;
  seed: number;
  mediaUrl: string;
  onProgress: (done: number) => void;
}

/** Loads generated apps. Each batch is a transaction, so that an interrupted run leaves complete apps only. */
export async function loadPlausibleApps(ownerUrl: string, options: LoadOptions): Promise<void> {
  const chance = new Chance(options.seed);
  await withClient(ownerUrl, async (client) => {
    for (let done = 0; done < options.count; done += batchSize) {
      const size = Math.min(batchSize, options.count - done);
      const vendors = Array.from({ length: Math.ceil(size / appsPerVendor) }, (_, index) =>
        plausibleVendor(chance, done + index),
      );
      const made = Array.from({ length: size }, (_, index) => plausibleApp(chance, done + index, options.mediaUrl));
      await client.query("begin");
      const vendorIds = [...(await insertVendors(client, vendors)).values()];
      const rows = made.map(({ app }) => ({ ...app, vendor_id: chance.one(vendorIds) }));
      const ids = await insertApps(client, rows);
      const idOf = (slug: string): string => ids.get(slug) ?? "";
      await insertPlans(
        client,
        made.map(({ app, plan }) => ({ ...plan, app_id: idOf(app.slug) })),
      );
      await publishApps(client, ids.values());
      await setPopularity(
        client,
        made.map(({ app, popularity }) => ({ app_id: idOf(app.slug), popularity })),
      );
      await client.query("commit");
      options.onProgress(done + size);
    }
    await client.query("select adopt_apps()");
    await withDatabase(ownerUrl, (database) => refreshSearchRanks(database));
    await client.query("vacuum (analyze) app_listings, app_popularity, app_search, search_words, category_counts");
  });
}
