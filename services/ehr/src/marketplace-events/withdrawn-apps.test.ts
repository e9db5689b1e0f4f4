import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
import { type RequestOptions, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { type RunningEhr, startEhr } from "@ehr-marketplace/tests/support/ehr";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { type Workbench, workbench } from "../apps/apps.test-support.ts";
import { type Catalog, startCatalog } from "../apps/catalog.test-support.ts";
import { eventOf, hilltop, riverside, secretOf, send } from "./events.test-support.ts";

describe("an app that the marketplace has withdrawn", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let catalog: Catalog;
  let ehr: RunningEhr;
  let ownerUrl: string;
  let bench: Workbench;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    catalog = await startCatalog(cleanUp, { ...marketplace, ownerUrl: marketplace.database.ownerUrl });
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    bench = await workbench(cleanUp, database.serviceUrl);
    ehr = await startEhr(cleanUp, database.serviceUrl, {
      ...marketplace.callers.environment,
      MARKETPLACE_URL: catalog.url,
      MARKETPLACE_TOKEN_URL: `${marketplace.callers.identityProvider.issuer}/token`,
      MARKETPLACE_CLIENT_ID: "ehr-service",
      MARKETPLACE_CLIENT_SECRET: "development-only",
    });
  });
  const request = (path: string, options: RequestOptions = {}): Promise<Response> =>
    sendRequest(`${ehr.url}/api/app-installations${path}`, marketplace.callers.token("riverside-admin"), options);
  const isInstalled = async (slug: string): Promise<boolean> =>
    ((await (await request(`/${slug}/installed`)).json()) as { data: boolean }).data;
  const deliver = async (what: "created" | "cancelled" | "resumed", id: string, app: string, at: number) => {
    const response = await send(ehr.url, { body: eventOf({ what, id, app, at }) });
    assert.deepEqual(response, { status: 200, message: "applied" });
  };
  const install = async (slug: string, id: string = randomUUID()): Promise<string> => {
    await deliver("created", id, slug, Date.now() - 60_000);
    await eventually(`${slug} is installed`, 15_000, () => isInstalled(slug));
    return id;
  };
  const age = (slug: string, interval: string): Promise<unknown> =>
    withClient(ownerUrl, (client) =>
      client.query("update apps set fetched_at = now() - $2::interval where slug = $1", [slug, interval]),
    );
  const isKnownAbsent = (slug: string): Promise<unknown> =>
    eventually("the catalog's 404 is stored", 20_000, async () =>
      withClient(ownerUrl, async (client) => {
        const { rowCount } = await client.query("select from apps where slug = $1 and catalog_absent_at is not null", [
          slug,
        ]);
        return rowCount === 1;
      }),
    );
  const assertQuarantined = async (slug: string): Promise<void> => {
    assert.equal(await isInstalled(slug), false);
    await assertFailure(await request(`/${slug}`), 404);
    await assertFailure(await request(`/${slug}/launch`, { body: {} }), 404);
    await assertFailure(await request(`/${slug}/config`, { method: "PUT", body: {} }), 404);
  };

  test("isn't installed by an event, even if it was stored before", async () => {
    const slug = "northwind-scribe";
    const id = await install(slug);
    await deliver("cancelled", id, slug, Date.now());
    await catalog.unpublish(slug);
    await age(slug, "2 hours");
    await deliver("created", randomUUID(), slug, Date.now());
    await assertFailure(await request(`/${slug}/launch`, { body: {} }), 404);
    await isKnownAbsent(slug);
    await assertQuarantined(slug);
    await deliver("resumed", id, slug, Date.now() + 60_000);
    await assertQuarantined(slug);
  });

  test("is quarantined if an event installed it and the marketplace never listed the subscription", async () => {
    const slug = "cuffline";
    await install(slug);
    assert.equal((await request(`/${slug}/launch`, { body: {} })).status, 200);
    await catalog.unpublish(slug);
    await age(slug, "2 hours");
    await bench.requestFetch(slug);
    await isKnownAbsent(slug);
    await eventually("it is quarantined", 15_000, async () => !(await isInstalled(slug)));
    await assertQuarantined(slug);
    assert.equal((await request(`/${slug}/launches`)).status, 200, "what was launched stays in the log");
    await eventually("it is counted", 15_000, async () => {
      const metrics = await (await fetch(`${ehr.url}/metrics`)).text();
      return Number(/^subscriptions_quarantined{[^}]*} (\d+)$/m.exec(metrics)?.[1]) > 0;
    });
  });

  test("stays installed if the marketplace has listed the subscription", async () => {
    const slug = "quiet-room";
    const [plan] = await marketplace.plans(slug);
    const body = { appSlug: slug, orgAlias: riverside, pricingPlanId: plan?.id };
    const { id } = (await (await marketplace.requestAs("operator", "/subscriptions", { body })).json()) as {
      id: string;
    };
    await install(slug, id);
    const url = `${ehr.url}/api/admin/organisations/${riverside}/reconcile`;
    assert.equal((await sendRequest(url, marketplace.callers.token("operator"), { method: "POST" })).status, 200);
    // Another organisation's subscription to the same app is forged.
    const forged = eventOf({ what: "created", id: randomUUID(), app: slug, at: Date.now(), orgAlias: hilltop });
    assert.equal((await send(ehr.url, { body: forged, secret: secretOf(hilltop) })).status, 200);
    await catalog.unpublish(slug);
    await age(slug, "2 hours");
    await bench.requestFetch(slug);
    await isKnownAbsent(slug);
    await eventually("the other organisation's is quarantined", 15_000, () =>
      withClient(ownerUrl, async (client) => {
        const { rowCount } = await client.query(
          "select from installations where org_alias = $1 and app_slug = $2 and status = 'removed'",
          [hilltop, slug],
        );
        return rowCount === 1;
      }),
    );
    assert.equal(await isInstalled(slug), true);
    assert.equal((await request(`/${slug}/launch`, { body: {} })).status, 200);
  });
});
