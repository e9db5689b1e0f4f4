import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type { InstallationDto, LaunchDto, SubscriptionDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import { type RequestOptions, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { type RunningEhr, startEhr } from "@ehr-marketplace/tests/support/ehr";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { workbench } from "../apps/apps.test-support.ts";
import { type Catalog, startCatalog } from "../apps/catalog.test-support.ts";
import { eventOf, hilltop, riverside, secretOf, send } from "../marketplace-events/events.test-support.ts";

describe("a subscription to an app that the catalog no longer has", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let catalog: Catalog;
  let ehr: RunningEhr;
  let ownerUrl: string;
  let serviceUrl: string;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    catalog = await startCatalog(cleanUp, { ...marketplace, ownerUrl: marketplace.database.ownerUrl });
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl, serviceUrl } = database);
    ehr = await startEhr(cleanUp, database.serviceUrl, {
      ...marketplace.callers.environment,
      MARKETPLACE_URL: catalog.url,
      MARKETPLACE_TOKEN_URL: `${marketplace.callers.identityProvider.issuer}/token`,
      MARKETPLACE_CLIENT_ID: "ehr-service",
      MARKETPLACE_CLIENT_SECRET: "development-only",
    });
  });
  const request = (path: string, options: RequestOptions = {}, orgAlias = riverside): Promise<Response> => {
    const persona = orgAlias === riverside ? "riverside-admin" : "hilltop-admin";
    return sendRequest(`${ehr.url}/api/app-installations${path}`, marketplace.callers.token(persona), options);
  };
  const data = async <T>(response: Response): Promise<T> => {
    assert.equal(response.status, 200, await response.clone().text());
    return ((await response.json()) as { data: T }).data;
  };
  const isInstalled = async (slug: string, orgAlias = riverside): Promise<boolean> =>
    data<boolean>(await request(`/${slug}/installed`, {}, orgAlias));
  const subscribe = async (appSlug: string, orgAlias = riverside): Promise<SubscriptionDto> => {
    const [plan] = await marketplace.plans(appSlug);
    const body = { appSlug, orgAlias, pricingPlanId: plan?.id };
    return (await (await marketplace.requestAs("operator", "/subscriptions", { body })).json()) as SubscriptionDto;
  };
  const deliver = async ({
    id,
    appSlug,
    orgAlias,
    updatedAt,
  }: Pick<SubscriptionDto, "id" | "appSlug" | "orgAlias" | "updatedAt">) => {
    const body = eventOf({ what: "created", id, app: appSlug, at: Date.parse(updatedAt), orgAlias });
    assert.deepEqual(await send(ehr.url, { body, secret: secretOf(orgAlias) }), { status: 200, message: "applied" });
  };
  const listsRequested = (): number =>
    catalog.requested.filter((path) => path.includes(`/subscriptions?orgAlias=${hilltop}`)).length;

  test("is installed once the marketplace lists it, with the app's fields from the list, and can be launched and configured", async () => {
    const slug = "northwind-scribe";
    const subscription = await subscribe(slug);
    await catalog.unpublish(slug);
    await deliver(subscription);
    await eventually("the list has confirmed it", 30_000, () => isInstalled(slug));
    const shown = await data<InstallationDto>(await request(`/${slug}`));
    assert.deepEqual([shown.name, shown.subscriptionId], ["Northwind Scribe", subscription.id]);
    const launched = await data<LaunchDto>(await request(`/${slug}/launch`, { body: {} }));
    assert.equal(launched.launchType, "smart");
    const put = { method: "PUT", body: { apiKey: "secret", anything: [1] } };
    const configured = await data<InstallationDto>(await request(`/${slug}/config`, put));
    assert.deepEqual(configured.config, { apiKey: null, anything: null }, "its schema was never known");
  });

  test("gets the app's fields from the list at every reconciliation", async () => {
    await withClient(marketplace.database.ownerUrl, (client) =>
      client.query("update apps set name = 'Renamed' where slug = 'northwind-scribe'"),
    );
    const url = `${ehr.url}/api/admin/organisations/${riverside}/reconcile`;
    assert.equal((await sendRequest(url, marketplace.callers.token("operator"), { method: "POST" })).status, 200);
    await eventually("the new name is shown", 15_000, async () => {
      const { name } = await data<InstallationDto>(await request("/northwind-scribe"));
      return name === "Renamed";
    });
  });

  test("stays quarantined if the marketplace doesn't list it, and its list is requested once in five minutes", async () => {
    await withClient(ownerUrl, (client) => client.query("update organisations set quarantine_checked_at = null"));
    const earlier = listsRequested();
    const invented = ["invented-one", "invented-two", "invented-three"];
    for (const appSlug of invented) {
      await deliver({ id: randomUUID(), appSlug, orgAlias: hilltop, updatedAt: new Date().toISOString() });
    }
    const reconciled = async (): Promise<boolean> =>
      withClient(ownerUrl, async (client) => {
        const { rowCount } = await client.query(
          "select from organisations where alias = $1 and reconciled_at is not null",
          [hilltop],
        );
        return rowCount === 1;
      });
    await eventually("hilltop is reconciled", 30_000, reconciled);
    const jobs = await withClient(ownerUrl, (client) =>
      client.query(
        `select from pgboss.job where name = 'reconciliations' and state = 'created'
           and data ->> 'alias' = $1 and start_after < now() + interval '4 minutes'`,
        [hilltop],
      ),
    );
    assert.equal(jobs.rowCount, 0, "the next one waits");
    assert.equal(listsRequested() - earlier, 1);
    for (const slug of invented) {
      assert.equal(await isInstalled(slug, hilltop), false);
      await assertFailure(await request(`/${slug}/launch`, { body: {} }, hilltop), 404);
    }
    const metrics = await (await fetch(`${ehr.url}/metrics`)).text();
    assert.match(metrics, /^subscriptions_quarantined{[^}]*} 3$/m);
    assert.match(metrics, /^subscriptions_unlisted{[^}]*} 0$/m, "what was never installed isn't missed on the list");
  });

  test("is installed again by the list if the app was withdrawn before any list was read", async () => {
    const slug = "cuffline";
    const { id } = await subscribe(slug);
    await deliver({ id, appSlug: slug, orgAlias: riverside, updatedAt: new Date().toISOString() });
    await eventually("it is installed", 15_000, () => isInstalled(slug));
    await catalog.unpublish(slug);
    await withClient(ownerUrl, async (client) => {
      await client.query("update organisations set quarantine_checked_at = null");
      await client.query("update apps set fetched_at = now() - interval '2 hours' where slug = $1", [slug]);
    });
    const bench = await workbench(cleanUp, serviceUrl);
    await bench.requestFetch(slug);
    await eventually("it is listed", 30_000, () =>
      withClient(ownerUrl, async (client) => {
        const { rowCount } = await client.query(
          `select from subscriptions join apps on slug = app_slug
           where subscriptions.id = $1 and listed_at is not null and confirmed_at is not null and catalog_absent_at is not null`,
          [id],
        );
        return rowCount === 1;
      }),
    );
    await eventually("it is installed", 15_000, () => isInstalled(slug));
    assert.ok((await data<LaunchDto>(await request(`/${slug}/launch`, { body: {} }))).launchId);
  });
});
