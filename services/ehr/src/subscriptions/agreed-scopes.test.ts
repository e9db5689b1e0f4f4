import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { InstallationDto, LaunchContextDto, LaunchDto, SubscriptionDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { type RequestOptions, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { type RunningEhr, startEhr } from "@ehr-marketplace/tests/support/ehr";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { type Catalog, startCatalog } from "../apps/catalog.test-support.ts";
import { hilltop, riverside, secretOf, send } from "../marketplace-events/events.test-support.ts";
import type { ReconciliationResult } from "../reconciliation/reconcile.ts";

type Persona = Parameters<MarketplaceWithCallers["requestAs"]>[0];

const agreed = "launch openid patient/Observation.rs";
const current = `${agreed} patient/Condition.rs`;

describe("the scopes of an installation are those that the organisation has agreed to", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let catalog: Catalog;
  let ehr: RunningEhr;
  let ownerUrl: string;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    catalog = await startCatalog(cleanUp, { ...marketplace, ownerUrl: marketplace.database.ownerUrl });
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    ehr = await startEhr(cleanUp, database.serviceUrl, {
      ...marketplace.callers.environment,
      MARKETPLACE_URL: catalog.url,
      MARKETPLACE_TOKEN_URL: `${marketplace.callers.identityProvider.issuer}/token`,
      MARKETPLACE_CLIENT_ID: "ehr-service",
      MARKETPLACE_CLIENT_SECRET: "development-only",
    });
  });
  const atMarketplace = async <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  const atEhr = (statement: string, ...values: unknown[]): Promise<unknown> =>
    withClient(ownerUrl, (client) => client.query(statement, values));
  /** As the approval of a revision will. */
  const publish = async (slug: string, scopes: string): Promise<void> => {
    await atMarketplace("update apps set fhir_scopes = $2 where slug = $1", slug, scopes);
    await eventually("the catalog has the scopes", 15_000, async () => {
      const app = (await (await marketplace.get(`/apps/${slug}`)).json()) as { fhirScopes: string };
      return app.fhirScopes === scopes;
    });
  };
  const subscribe = async (appSlug: string, orgAlias = riverside): Promise<SubscriptionDto> => {
    const [plan] = await marketplace.plans(appSlug);
    const body = { appSlug, orgAlias, pricingPlanId: plan?.id };
    return (await (await marketplace.requestAs("operator", "/subscriptions", { body })).json()) as SubscriptionDto;
  };
  const consent = async ({ id, orgAlias }: SubscriptionDto, fhirScopes = current): Promise<void> => {
    const by: Persona = orgAlias === hilltop ? "hilltop-admin" : "riverside-admin";
    const response = await marketplace.requestAs(by, `/subscriptions/${id}/consent`, { body: { fhirScopes } });
    assert.equal(response.status, 200, await response.clone().text());
  };
  /** Delivers the newest event of a subscription, changed if wanted. */
  const deliver = async ({ id, orgAlias }: SubscriptionDto, change = (payload: string) => payload): Promise<void> => {
    const [event] = await atMarketplace<{ payload: string }>(
      "select payload from events where subscription_id = $1 order by sequence desc limit 1",
      id,
    );
    const response = await send(ehr.url, { body: change(event?.payload ?? ""), secret: secretOf(orgAlias) });
    assert.deepEqual(response, { status: 200, message: "applied" });
  };
  const request = async <T>(path: string, options: RequestOptions = {}, orgAlias = riverside): Promise<T> => {
    const by: Persona = orgAlias === hilltop ? "hilltop-admin" : "riverside-admin";
    const url = `${ehr.url}/api/app-installations${path}`;
    return ((await (await sendRequest(url, marketplace.callers.token(by), options)).json()) as { data: T }).data;
  };
  const shown = async (slug: string, orgAlias = riverside): Promise<string | undefined> =>
    (await request<InstallationDto | null>(`/${slug}`, {}, orgAlias))?.fhirScopes;
  const becomes = (slug: string, scopes: string, orgAlias = riverside): Promise<unknown> =>
    eventually(`${slug} has the scopes ${scopes}`, 15_000, async () => (await shown(slug, orgAlias)) === scopes);
  const reconcile = async (alias = riverside): Promise<Pick<ReconciliationResult, "changed" | "corrected">> => {
    const url = `${ehr.url}/api/admin/organisations/${alias}/reconcile`;
    const response = await sendRequest(url, marketplace.callers.token("operator"), { method: "POST" });
    assert.equal(response.status, 200);
    const { changed, corrected } = ((await response.json()) as { data: ReconciliationResult }).data;
    return { changed, corrected };
  };
  /** The next fetch of the app isn't one too many within a minute. */
  const ageFetch = (slug: string, interval = "2 minutes"): Promise<unknown> =>
    atEhr("update apps set fetched_at = now() - $2::interval where slug = $1", slug, interval);
  const installed = async (slug: string, scopes = agreed): Promise<SubscriptionDto> => {
    await publish(slug, scopes);
    const subscription = await subscribe(slug);
    await deliver(subscription);
    await becomes(slug, scopes);
    return subscription;
  };
  /** What an authorization server learns at a launch. */
  const redeemed = async (appSlug: string): Promise<LaunchContextDto> => {
    const { launchUrl } = await request<LaunchDto>(`/${appSlug}/launch`, { body: { launchType: "smart" } });
    const launch = new URL(launchUrl ?? "").searchParams.get("launch");
    const body = { launch, orgAlias: riverside, appSlug, user: "riverside-admin" };
    const url = `${ehr.url}/api/internal/launch-contexts/consume`;
    const response = await sendRequest(url, marketplace.callers.token("launch-redeemer"), { body });
    return ((await response.json()) as { data: LaunchContextDto }).data;
  };

  test("a scope that the app adds is granted within seconds of the agreement, though the app was fetched less than a minute ago", async () => {
    const slug = "northwind-scribe";
    const subscription = await installed(slug);
    await publish(slug, current);
    await consent(subscription);
    await deliver(subscription);
    await becomes(slug, current);
    const { fhirScopes, subscriptionId } = await redeemed(slug);
    assert.deepEqual([fhirScopes, subscriptionId], [current, subscription.id]);
  });

  test("an installation's updatedAt changes with the agreed scopes, by an event or by reconciliation, and not without", async () => {
    const slug = "chart-courier";
    const subscription = await installed(slug);
    const updatedAt = async (): Promise<string> => (await request<InstallationDto>(`/${slug}`)).updatedAt;
    /** Processes learn of changes by notifications. */
    const updatedAfter = async (earlier: string): Promise<string> => {
      await eventually(`updatedAt is after ${earlier}`, 15_000, async () => (await updatedAt()) > earlier);
      return updatedAt();
    };
    const stored = async (): Promise<string | undefined> =>
      withClient(ownerUrl, async (client) => {
        const { rows } = await client.query<{ updated_at: Date }>(
          "select updated_at from installations where app_slug = $1",
          [slug],
        );
        return rows[0]?.updated_at.toISOString();
      });
    const first = await updatedAt();
    await publish(slug, current);
    await consent(subscription);
    await deliver(subscription);
    const second = await updatedAfter(first);
    assert.deepEqual(await reconcile(), { changed: 0, corrected: 0 });
    assert.equal(await stored(), second);
    await atEhr("update subscriptions set fhir_scopes = $2 where id = $1", subscription.id, agreed);
    assert.deepEqual(await reconcile(), { changed: 1, corrected: 0 });
    const third = await updatedAfter(second);
    const [event] = await atMarketplace<{ payload: string }>(
      "select payload from events where subscription_id = $1 order by sequence desc limit 1",
      subscription.id,
    );
    const later = new Date(Date.parse((JSON.parse(event?.payload ?? "") as { timestamp: string }).timestamp) + 1);
    await deliver(subscription, (payload) =>
      JSON.stringify({ ...(JSON.parse(payload) as object), timestamp: later.toISOString() }),
    );
    assert.equal(await stored(), third, "an event that changes the plan");
  });

  test("an app whose scopes are refreshed gets none that aren't agreed to", async () => {
    const slug = "inbox-heron";
    const subscription = await installed(slug);
    await publish(slug, current);
    await atEhr("update apps set fhir_scopes = $2 where slug = $1", slug, current);
    await atMarketplace("update apps set smart_launch_url = 'https://heron.example/launch' where slug = $1", slug);
    await atEhr("update apps set smart_launch_url = 'https://heron.example/launch' where slug = $1", slug);
    await becomes(slug, agreed);
    assert.deepEqual((await redeemed(slug)).fhirScopes, agreed);
    assert.deepEqual(await reconcile(), { changed: 0, corrected: 0 });
    await consent(subscription);
    assert.deepEqual(await reconcile(), { changed: 1, corrected: 0 }, "the event is lost");
    await becomes(slug, current);
    assert.deepEqual(await reconcile(), { changed: 0, corrected: 0 });
  });

  test("a scope that the app removes ends with the next refresh or reconciliation, which is no correction", async () => {
    const slug = "cuffline";
    await installed(slug, current);
    await publish(slug, agreed);
    assert.deepEqual(await reconcile(), { changed: 1, corrected: 0 });
    await becomes(slug, agreed);
  });

  test("an event can't give an app a scope that the catalog doesn't; reconciliation takes back what it claimed", async () => {
    const slug = "quiet-room";
    const subscription = await installed(slug);
    await publish(slug, current);
    await ageFetch(slug);
    const ahead = new Date(Date.now() + 60_000).toISOString();
    await deliver(subscription, (payload) => {
      const { event: _event, ...given } = JSON.parse(payload) as { event: string; app: object };
      const app = { ...given.app, fhirScopes: `${current} system/*.cruds` };
      return JSON.stringify({ ...given, event: "subscription.updated", app, timestamp: ahead });
    });
    await becomes(slug, current);
    assert.deepEqual(await reconcile(), { changed: 1, corrected: 1 });
    await becomes(slug, agreed);
  });

  test("a subscription that was stored without scopes has the app's", async () => {
    const slug = "lab-lantern";
    const subscription = await installed(slug);
    await atEhr("update subscriptions set fhir_scopes = null where id = $1", subscription.id);
    await atEhr("update apps set fhir_scopes = $2 where slug = $1", slug, current);
    await becomes(slug, current);
    assert.equal((await reconcile()).changed, 1);
    await becomes(slug, agreed);
  });

  test("an event without scopes keeps the stored ones, and invalid scopes are refused", async () => {
    const slug = "refill-robin";
    const subscription = await installed(slug);
    await marketplace.requestAs("operator", `/subscriptions/${subscription.id}/pause`, {
      body: { reason: "ORG_REQUEST" },
    });
    const withScopes = (fhirScopes: unknown) => (payload: string) => {
      const given = JSON.parse(payload) as { app: object };
      return JSON.stringify({ ...given, app: { ...given.app, fhirScopes } });
    };
    const [event] = await atMarketplace<{ payload: string }>(
      "select payload from events where subscription_id = $1 order by sequence desc limit 1",
      subscription.id,
    );
    for (const scopes of [7, null, {}, "x".repeat(40_001)]) {
      assert.equal((await send(ehr.url, { body: withScopes(scopes)(event?.payload ?? "") })).status, 400);
    }
    await deliver(subscription, withScopes(undefined));
    assert.equal(await shown(slug), agreed);
  });

  test("organisations with different agreements to an app that isn't published any more keep their own", async () => {
    const slug = "vitals-dock";
    const early = await installed(slug);
    await publish(slug, current);
    const late = await subscribe(slug, hilltop);
    await deliver(late);
    await catalog.unpublish(slug);
    for (const alias of [hilltop, riverside, hilltop]) await reconcile(alias);
    await ageFetch(slug, "2 hours");
    await atEhr("update apps set catalog_absent_at = now() where slug = $1", slug);
    for (const alias of [hilltop, riverside]) await reconcile(alias);
    await becomes(slug, current, hilltop);
    await becomes(slug, agreed);
    await consent(early);
    await reconcile();
    await becomes(slug, current);
  });
});
