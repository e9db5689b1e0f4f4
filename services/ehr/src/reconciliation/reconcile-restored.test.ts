import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AuditEntry, DifferenceDto, SubscriptionDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, eventually } from "@ehr-marketplace/test-kit";
import { assertFailure } from "@ehr-marketplace/test-kit/contract";
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
import { findEpoch, noteEpoch } from "../subscriptions/marketplace-epoch.ts";
import { createSubscriptionLister, type SubscriptionList } from "./marketplace-subscriptions.ts";
import { createMarketplaceTokens } from "./marketplace-tokens.ts";
import { type ReconciliationDeps, type ReconciliationResult, reconcile } from "./reconcile.ts";
import { watchEpoch } from "./watch-epoch.ts";

const slugs = {
  security: "northwind-scribe",
  hold: "cuffline",
  unpaid: "quiet-room",
  cancelled: "cafe-intake",
  forged: "refill-robin",
} as const;

/** An earlier response of the marketplace is what it responds after its files were put back, and with another system, after a dump was restored. */
describe("after the marketplace was restored from a backup", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let ehr: RunningEhr;
  let ownerUrl: string;
  let reconciling: ReconciliationDeps;
  const subscriptions = {} as Record<keyof typeof slugs, SubscriptionDto>;
  let backup: SubscriptionList;

  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    const credentials = {
      tokenUrl: `${marketplace.callers.identityProvider.issuer}/token`,
      clientId: "ehr-service",
      clientSecret: "development-only",
      parameters: "",
      plainHttp: true,
    };
    const marketplaceUrl = `${marketplace.url}/api/v1`;
    const database = await cloneDatabase(cleanUp, "ehr");
    ({ ownerUrl } = database);
    // Without credentials, this process doesn't reconcile by itself.
    ehr = await startEhr(cleanUp, database.serviceUrl, {
      ...marketplace.callers.environment,
      MARKETPLACE_URL: marketplaceUrl,
      MARKETPLACE_TOKEN_URL: "",
    });
    const connected = await connectAsService<DB>(cleanUp, database.serviceUrl);
    const tokens = createMarketplaceTokens(credentials, connected.clock);
    reconciling = {
      ...connected,
      countCorrections: () => undefined,
      countSkipped: () => undefined,
      listSubscriptions: createSubscriptionLister(marketplaceUrl, tokens, createAppParser({ allowsHttp: true })),
    };
    for (const [name, appSlug] of Object.entries(slugs)) {
      const [plan] = await marketplace.plans(appSlug);
      const body = { appSlug, orgAlias: riverside, pricingPlanId: plan?.id };
      const response = await marketplace.requestAs("operator", "/subscriptions", { body });
      subscriptions[name as keyof typeof slugs] = (await response.json()) as SubscriptionDto;
    }
    backup = await reconciling.listSubscriptions(riverside);
    assert.equal(backup.epochs.length, 1, "the marketplace names its epoch");
    await reconcileWith();
    await change("security", "paused", "SECURITY");
    await change("hold", "paused", "OPERATOR_HOLD");
    await change("unpaid", "paused", "NON_PAYMENT");
    await change("cancelled", "cancelled");
    // What the next night reads, or the look every five minutes.
    await watchEpoch(reconciling);
  });

  /** Changes a subscription at the marketplace, and delivers the event. */
  const change = async (which: keyof typeof slugs, what: "paused" | "cancelled", reason?: string): Promise<void> => {
    const { id, appSlug: app, fhirScopes } = subscriptions[which];
    const path = `/subscriptions/${id}/${what === "paused" ? "pause" : "cancel"}`;
    const request = reason === undefined ? { method: "POST" } : { body: { reason } };
    const changed = (await (await marketplace.requestAs("operator", path, request)).json()) as SubscriptionDto;
    const event = eventOf({ what, id, app, fhirScopes, at: Date.parse(changed.updatedAt) });
    const body = { ...event, subscription: { ...event.subscription, pauseReason: reason } };
    assert.deepEqual(await send(ehr.url, { body }), { status: 200, message: "applied" });
  };
  const reconcileWith = async (list?: SubscriptionList): Promise<Partial<ReconciliationResult>> => {
    const deps = list === undefined ? reconciling : { ...reconciling, listSubscriptions: async () => list };
    const { changed, corrected, withheld } = await reconcile(deps, riverside);
    return { changed, corrected, withheld };
  };
  const statuses = async (): Promise<Record<string, string | undefined>> => {
    const rows = await readInstallationRows(ownerUrl);
    const statusOf = (slug: string) => rows.find((row) => row.app_slug === slug)?.status;
    return Object.fromEntries(Object.entries(slugs).map(([name, slug]) => [name, statusOf(slug)]));
  };
  const asOperator = (path: string, method = "GET"): Promise<Response> =>
    sendRequest(`${ehr.url}/api/admin/differences${path}`, marketplace.callers.token("operator"), { method });
  const differences = async (query = ""): Promise<DifferenceDto[]> =>
    ((await (await asOperator(query)).json()) as { data: { items: DifferenceDto[] } }).data.items;
  const differenceOf = async (which: keyof typeof slugs, query = ""): Promise<DifferenceDto> =>
    (await differences(query)).find(({ subscriptionId }) => subscriptionId === subscriptions[which].id) ??
    assert.fail(`no difference of ${which}`);
  const waiting = async (): Promise<number> => {
    const metrics = await (await fetch(`${ehr.url}/metrics`)).text();
    return Number(/^subscriptions_withheld{[^}]*} (\S+)$/m.exec(metrics)?.[1]);
  };

  test("a position that is read out of order is no restore", async () => {
    const seen = (await findEpoch(reconciling.database)) ?? assert.fail("none is stored");
    const slow = { ...seen, position: seen.position + 1n };
    const fast = { ...seen, position: seen.position + 2n };
    assert.equal(await noteEpoch(reconciling, seen, [fast]), 0);
    assert.equal(await noteEpoch(reconciling, seen, [slow]), 0);
    assert.deepEqual(await findEpoch(reconciling.database), fast);
  });

  test("what would end a cancellation, or a pause for SECURITY or OPERATOR_HOLD, waits; other corrections are applied", async () => {
    // By now the marketplace's position is past the one above.
    await eventually("the marketplace has written more", 20_000, async () => {
      await marketplace.requestAs("operator", "/admin/organisations/busy-clinic", {
        method: "PUT",
        body: { displayName: crypto.randomUUID() },
      });
      return (await reconcileWith()).withheld === 0;
    });
    assert.deepEqual(await reconcileWith(backup), { changed: 1, corrected: 1, withheld: 3 });
    assert.deepEqual(await statuses(), {
      security: "paused",
      hold: "paused",
      unpaid: "active",
      cancelled: "removed",
      forged: "active",
    });
    const { id, foundAt: _found, ...difference } = await differenceOf("security");
    assert.deepEqual(difference, {
      orgAlias: riverside,
      subscriptionId: subscriptions.security.id,
      appSlug: slugs.security,
      stored: { status: "paused", pauseReason: "SECURITY", asOf: difference.stored.asOf },
      listed: { status: "active", pauseReason: null, asOf: subscriptions.security.updatedAt },
      keptAt: null,
    });
    assert.ok(difference.stored.asOf > difference.listed.asOf);
    assert.equal(await waiting(), 3);
    // Another reconciliation finds the same ones.
    assert.deepEqual(await reconcileWith(backup), { changed: 0, corrected: 0, withheld: 3 });
    assert.equal((await differenceOf("security")).id, id);
  });

  test("what an operator keeps is not asked again, also after another restore", async () => {
    const { id } = await differenceOf("security");
    for (let time = 0; time < 2; time += 1) assert.equal((await asOperator(`/${id}/keep`, "POST")).status, 200);
    const epochs = backup.epochs.map((epoch) => ({ ...epoch, system: "0123456789abcdef" }));
    assert.deepEqual(await reconcileWith({ ...backup, epochs }), { changed: 0, corrected: 0, withheld: 3 });
    assert.equal((await differences()).length, 2);
    const kept = await differenceOf("security", "?kept=true");
    assert.deepEqual([kept.id, typeof kept.keptAt], [id, "string"]);
    assert.equal((await statuses())["security"], "paused");
    assert.equal(await waiting(), 2);
  });

  test("what an operator applies is as the list says, and recorded", async () => {
    const { id, stored, listed } = await differenceOf("cancelled");
    assert.deepEqual([stored.status, listed.status], ["cancelled", "active"]);
    const response = await asOperator(`/${id}/apply`, "POST");
    assert.equal(response.status, 200);
    assert.equal((await statuses())["cancelled"], "active");
    for (const verb of ["apply", "keep"]) await assertFailure(await asOperator(`/${id}/${verb}`, "POST"), 404);
    const audit = await sendRequest(
      `${ehr.url}/api/admin/audit?action=difference.apply`,
      marketplace.callers.token("operator"),
      {},
    );
    const { items } = ((await audit.json()) as { data: { items: AuditEntry[] } }).data;
    assert.deepEqual(
      items.map(({ onBehalfOf, target, before: earlier, after }) => [onBehalfOf, target.id, earlier, after]),
      [[riverside, subscriptions.cancelled.id, stored, listed]],
    );
  });

  test("a newer event settles it, and a forged one is corrected as before", async () => {
    const tell = async (what: "resumed" | "cancelled", which: keyof typeof slugs): Promise<void> => {
      const { id, appSlug: app, fhirScopes } = subscriptions[which];
      const body = eventOf({ what, id, app, fhirScopes, at: Date.now() });
      assert.deepEqual(await send(ehr.url, { body }), { status: 200, message: "applied" });
    };
    await tell("resumed", "hold");
    assert.deepEqual(await differences(), []);
    assert.equal(await waiting(), 0);
    await tell("cancelled", "forged");
    const epochs = backup.epochs.map((epoch) => ({ ...epoch, system: "0123456789abcdef" }));
    // The kept difference stays withheld.
    const { corrected, withheld } = await reconcileWith({ ...backup, epochs });
    assert.deepEqual([corrected, withheld], [1, 1]);
    assert.equal((await statuses())["forged"], "active");
  });

  test("a list without an epoch, as of an older marketplace, lifts nothing that was kept", async () => {
    assert.deepEqual(await reconcileWith({ ...backup, epochs: [] }), { changed: 0, corrected: 0, withheld: 1 });
    assert.equal((await statuses())["security"], "paused");
  });
});
