import { loadDemoData } from "@ehr-marketplace/dev/demo-data";
import { prepareMarketplaceDatabase } from "@ehr-marketplace/dev/postgres";
import { insertSubscribers, registerPractices } from "@ehr-marketplace/dev/practices";
import { withClient } from "@ehr-marketplace/test-kit";

const appSlug = "northwind-scribe";
const practicesPerStatement = 10_000;

/** The metric of the app's plan by usage, which adds quantities up. */
export const metric = "notes";

export interface MeteredDatabase {
  serviceUrl: string;
  ownerUrl: string;
  /** The ids of the subscriptions to a plan by usage. */
  subscriptions: string[];
}

/** Creates a database with the demo data, and practices that subscribed to a plan by usage some months ago. */
export async function loadSubscribers(
  clusterUrl: string,
  { name, count, mediaDirectory }: { name: string; count: number; mediaDirectory: string },
): Promise<MeteredDatabase> {
  const { ownerUrl, serviceUrl } = await prepareMarketplaceDatabase(clusterUrl, name);
  const places = { publicUrl: "http://127.0.0.1", demoAppUrl: "http://127.0.0.1", ehrUrl: "http://127.0.0.1" };
  await loadDemoData(ownerUrl, { ...places, mediaDirectory });
  const subscriptions: string[] = [];
  for (let start = 0; start < count; start += practicesPerStatement) {
    const length = Math.min(practicesPerStatement, count - start);
    const practices = await registerPractices(ownerUrl, {
      count: length,
      callbackUrl: null,
      prefix: `metered-${start}`,
    });
    subscriptions.push(...(await insertSubscribers(ownerUrl, appSlug, practices)));
  }
  await withClient(ownerUrl, async (client) => {
    // Neither of the two columns changes otherwise.
    await client.query("alter table subscriptions disable trigger user");
    await client.query(
      `update subscriptions set created_at = created_at - interval '100 days', pricing_plan_id = plan.id
       from pricing_plans plan where plan.app_id = subscriptions.app_id and plan.metric = $1 and aggregation = 'SUM'`,
      [metric],
    );
    await client.query("alter table subscriptions enable trigger user");
    await client.query("vacuum (analyze)");
  });
  return { serviceUrl, ownerUrl, subscriptions };
}
