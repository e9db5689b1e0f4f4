import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { reconciliationResponse, type SubscriptionDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { sendRequest } from "@ehr-marketplace/tests/support/callers";
import { startEhr } from "@ehr-marketplace/tests/support/ehr";
import { startMarketplaceWithCallers } from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { readInstallationRows, riverside } from "../marketplace-events/events.test-support.ts";
import type { ReconciliationResult } from "./reconcile.ts";

test("an invalid record of the list is skipped and counted: its subscription stays as it is, and the others are applied", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const marketplace = await startMarketplaceWithCallers(cleanUp);
  let distort = (record: SubscriptionDto): unknown => record;
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { authorization } = request.headers;
    const forwarded = await fetch(`${marketplace.url}${request.url}`, {
      headers: authorization === undefined ? {} : { authorization },
    });
    const body = (await forwarded.json()) as SubscriptionDto[];
    const isList = request.url?.startsWith("/api/v1/subscriptions?") === true;
    response.writeHead(forwarded.status, { "content-type": "application/json" });
    response.end(JSON.stringify(isList ? body.map((record) => distort(record)) : body));
  };
  const proxy = createServer((request, response) => void forward(request, response)).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  cleanUp(async () => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const database = await cloneDatabase(cleanUp, "ehr");
  const ehr = await startEhr(cleanUp, database.serviceUrl, {
    ...marketplace.callers.environment,
    MARKETPLACE_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/api/v1`,
    MARKETPLACE_TOKEN_URL: `${marketplace.callers.identityProvider.issuer}/token`,
    MARKETPLACE_CLIENT_ID: "ehr-service",
    MARKETPLACE_CLIENT_SECRET: "development-only",
  });
  const subscribe = async (appSlug: string): Promise<SubscriptionDto> => {
    const [plan] = await marketplace.plans(appSlug);
    const body = { appSlug, orgAlias: riverside, pricingPlanId: plan?.id };
    return (await (await marketplace.requestAs("operator", "/subscriptions", { body })).json()) as SubscriptionDto;
  };
  const reconcile = async (): Promise<Partial<ReconciliationResult>> => {
    const url = `${ehr.url}/api/admin/organisations/${riverside}/reconcile`;
    const response = await sendRequest(url, marketplace.callers.token("operator"), { method: "POST" });
    const { data } = (await response.json()) as { data: ReconciliationResult };
    assert.equal(response.status, 200);
    assert.deepEqual(
      Object.keys(data).toSorted(),
      Object.keys(reconciliationResponse.properties.data.properties).toSorted(),
    );
    const { checked, changed, corrected, unlisted, skipped } = data;
    return { checked, changed, corrected, unlisted, skipped };
  };
  const installed = async (): Promise<Record<string, string>> =>
    Object.fromEntries((await readInstallationRows(database.ownerUrl)).map((row) => [row.app_slug, row.status]));
  const skippedInTotal = async (): Promise<number> => {
    const metrics = await (await fetch(`${ehr.url}/metrics`)).text();
    return Number(/^subscriptions_skipped_total(?:{[^}]*})? (\S+)$/m.exec(metrics)?.[1] ?? Number.NaN);
  };

  const first = await subscribe("northwind-scribe");
  const applied = { checked: 1, changed: 1, corrected: 0, unlisted: 0, skipped: 0 };
  assert.deepEqual(await reconcile(), applied);
  await subscribe("cuffline");
  for (const [what, change] of Object.entries({
    "with its id": { status: "asleep", updatedAt: new Date(Date.now() + 60_000).toISOString() },
    "without its id": { id: 7 },
  })) {
    distort = (record) => (record.id === first.id ? { ...record, ...change } : record);
    const { changed, ...result } = await reconcile();
    assert.deepEqual(result, { checked: 1, corrected: 0, unlisted: 0, skipped: 1 }, what);
    assert.equal(changed, what === "with its id" ? 1 : 0);
    assert.deepEqual(await installed(), { "northwind-scribe": "active", cuffline: "active" });
  }
  assert.equal(await skippedInTotal(), 2);
  distort = (record) => record;
  assert.deepEqual(await reconcile(), { checked: 2, changed: 0, corrected: 0, unlisted: 0, skipped: 0 });
});
