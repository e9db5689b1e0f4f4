import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { sendRequest } from "@ehr-marketplace/tests/support/callers";
import { type RunningEhr, startEhr } from "@ehr-marketplace/tests/support/ehr";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import { createAppParser } from "../apps/parse-app.ts";
import type { DB } from "../database-schema.ts";
import { eventOf, readInstallationRows, riverside, send } from "../marketplace-events/events.test-support.ts";
import { createSubscriptionLister } from "./marketplace-subscriptions.ts";
import { createMarketplaceTokens } from "./marketplace-tokens.ts";
import { type ReconciliationDeps, type ReconciliationResult, reconcile } from "./reconcile.ts";

type EventName = Parameters<typeof eventOf>[0]["what"];

const ahead = (): number => Date.now() + 4 * 60_000;

describe("forged events that name a listed subscription are corrected by reconciliation", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let ehr: RunningEhr;
  let ownerUrl: string;
  let reconciling: ReconciliationDeps;

  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    const marketplaceUrl = `${marketplace.url}/api/v1`;
    const credentials = {
      tokenUrl: `${marketplace.callers.identityProvider.issuer}/token`,
      clientId: "ehr-service",
      clientSecret: "development-only",
      parameters: "",
      plainHttp: true,
    };
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    ehr = await startEhr(cleanUp, database.serviceUrl, {
      ...marketplace.callers.environment,
      MARKETPLACE_URL: marketplaceUrl,
      MARKETPLACE_TOKEN_URL: credentials.tokenUrl,
      MARKETPLACE_CLIENT_ID: credentials.clientId,
      MARKETPLACE_CLIENT_SECRET: credentials.clientSecret,
    });
    const connected = await connectAsService<DB>(cleanUp, database.serviceUrl);
    const token = createMarketplaceTokens(credentials, connected.clock);
    const readApp = createAppParser({ allowsHttp: true });
    reconciling = {
      ...connected,
      countCorrections: () => undefined,
      countSkipped: () => undefined,
      listSubscriptions: createSubscriptionLister(marketplaceUrl, token, readApp),
    };
  });

  const subscribe = async (appSlug: string): Promise<SubscriptionDto> => {
    const [plan] = await marketplace.plans(appSlug);
    const body = { appSlug, orgAlias: riverside, pricingPlanId: plan?.id };
    return (await (await marketplace.requestAs("operator", "/subscriptions", { body })).json()) as SubscriptionDto;
  };
  const change = async ({ id }: SubscriptionDto, command: string, body?: object): Promise<SubscriptionDto> => {
    const options = { method: "POST", ...(body === undefined ? {} : { body }) };
    const response = await marketplace.requestAs("operator", `/subscriptions/${id}/${command}`, options);
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as SubscriptionDto;
  };
  const deliver = async (what: EventName, { id, appSlug, fhirScopes }: SubscriptionDto, at: number): Promise<void> => {
    const response = await send(ehr.url, { body: eventOf({ what, id, app: appSlug, at, fhirScopes }) });
    assert.deepEqual(response, { status: 200, message: "applied" });
  };
  const deliverGenuine = (what: EventName, subscription: SubscriptionDto): Promise<void> =>
    deliver(what, subscription, Date.parse(subscription.updatedAt));
  const requestReconciliation = async (): Promise<Pick<ReconciliationResult, "changed" | "corrected" | "unlisted">> => {
    const url = `${ehr.url}/api/admin/organisations/${riverside}/reconcile`;
    const response = await sendRequest(url, marketplace.callers.token("operator"), { method: "POST" });
    assert.equal(response.status, 200);
    const { changed, corrected, unlisted } = ((await response.json()) as { data: ReconciliationResult }).data;
    return { changed, corrected, unlisted };
  };
  const statusOf = async (slug: string): Promise<string | undefined> =>
    (await readInstallationRows(ownerUrl)).find((row) => row.app_slug === slug)?.status;
  const becomes = (slug: string, status: string): Promise<unknown> =>
    eventually(`${slug} is ${status}`, 15_000, async () => (await statusOf(slug)) === status);
  const corrections = async (): Promise<number> =>
    Number(
      /^subscriptions_corrected_total(?:{[^}]*})? (\S+)$/m.exec(
        await (await fetch(`${ehr.url}/metrics`)).text(),
      )?.[1] ?? Number.NaN,
    );

  test("in status and in app, whatever time they claim; corrections are counted, and genuine events apply immediately", async () => {
    const cancelled = await subscribe("northwind-scribe");
    await deliverGenuine("created", cancelled);
    await becomes("northwind-scribe", "active");
    // For the second one, a forged event arrives before the genuine one.
    const renamed = await subscribe("cuffline");
    await deliver("cancelled", cancelled, ahead());
    await deliver("created", { ...renamed, appSlug: "lab-lantern" }, ahead());
    await becomes("northwind-scribe", "removed");
    await becomes("lab-lantern", "active");

    assert.equal(await corrections(), 0);
    assert.deepEqual(await requestReconciliation(), { changed: 2, corrected: 2, unlisted: 0 });
    assert.deepEqual(
      [await statusOf("northwind-scribe"), await statusOf("cuffline"), await statusOf("lab-lantern")],
      ["active", "active", "removed"],
    );
    assert.equal(await corrections(), 2);
    await deliverGenuine("paused", await change(cancelled, "pause", { reason: "NON_PAYMENT" }));
    assert.equal(await statusOf("northwind-scribe"), "paused");
    assert.deepEqual(await requestReconciliation(), { changed: 0, corrected: 0, unlisted: 0 });
  });

  test("again after the five minutes that a timestamp can be ahead, in case genuine events were ignored", async () => {
    const { rows } = await withClient(ownerUrl, (client) =>
      client.query<{ seconds: string }>(
        `select extract(epoch from start_after - created_on) as seconds from pgboss.job
         where name = 'reconciliations' and singleton_key = $1 and state = 'created'`,
        [`${riverside} correction`],
      ),
    );
    assert.equal(rows.length, 1);
    assert.ok(Number(rows[0]?.seconds) > 300, `${rows[0]?.seconds} s`);
  });

  test("also if they revive a subscription that is cancelled at the marketplace", async () => {
    const subscription = await subscribe("refill-robin");
    await deliverGenuine("created", subscription);
    await deliverGenuine("cancelled", await change(subscription, "cancel"));
    await deliver("resumed", subscription, ahead());
    await becomes("refill-robin", "active");
    assert.equal((await requestReconciliation()).corrected, 1);
    assert.equal(await statusOf("refill-robin"), "removed");
  });

  test("but an event that arrives while the list is being read is not undone, even if the list is older", async () => {
    const subscription = await subscribe("cafe-intake");
    await deliverGenuine("created", subscription);
    await becomes("cafe-intake", "active");
    await deliver("paused", subscription, Date.now() + 30_000);
    const whileListing: ReconciliationDeps = {
      ...reconciling,
      async listSubscriptions(orgAlias) {
        const listed = await reconciling.listSubscriptions(orgAlias);
        await deliver("cancelled", subscription, Date.now() + 60_000);
        return listed;
      },
    };
    assert.equal((await reconcile(whileListing, riverside)).corrected, 0);
    assert.equal(await statusOf("cafe-intake"), "removed");
    assert.equal((await reconcile(reconciling, riverside)).corrected, 1, "the next reconciliation corrects it");
    assert.equal(await statusOf("cafe-intake"), "active");
  });
});
