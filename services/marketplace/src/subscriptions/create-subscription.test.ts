import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AppDto, AuditPage, SubscriptionDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { planOf, subscribe, subscribed } from "./subscribe.test-support.ts";

const dayMs = 86_400_000;

describe("subscribing", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const rows = async <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  const cancel = (id: string): Promise<Response> =>
    marketplace.requestAs("operator", `/subscriptions/${id}/cancel`, { method: "POST" });

  test("returns 201 with the record and its Location", async () => {
    const began = Date.now();
    const response = await subscribe(marketplace, "northwind-scribe");
    const record = (await response.json()) as SubscriptionDto;
    assert.equal(response.status, 201);
    assertShape("SubscriptionDto", record);
    const app = (await (await marketplace.get("/apps/northwind-scribe")).json()) as AppDto;
    assert.deepEqual(record, {
      id: record.id,
      appId: app.id,
      appSlug: "northwind-scribe",
      orgAlias: "riverside-clinic",
      pricingPlanId: await planOf(marketplace, "northwind-scribe"),
      quantity: null,
      fhirScopes: app.fhirScopes,
      pendingScopes: "",
      status: "active",
      pauseReason: null,
      trialEndsAt: new Date(Date.parse(record.createdAt) + 14 * dayMs).toISOString(),
      createdAt: record.createdAt,
      updatedAt: record.createdAt,
      pausedAt: null,
      cancelledAt: null,
      pricingPlan: (await marketplace.plans("northwind-scribe"))[0],
    });
    assert.ok(Date.parse(record.createdAt) >= began && Date.parse(record.createdAt) <= Date.now());
    assert.match(record.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    assert.equal(response.headers.get("location"), `/api/v1/subscriptions/${record.id}`);
    assert.equal(response.headers.get("cache-control"), "no-store");
    const found = await marketplace.requestAs("riverside-member", `/subscriptions/${record.id}`);
    assert.deepEqual(await found.json(), record);
  });

  test("records an event with exactly the specified payload, and an audit entry", async () => {
    const record = await subscribed(marketplace, "northwind-watch", { by: "operator" });
    const app = (await (await marketplace.get("/apps/northwind-watch")).json()) as AppDto;
    const events = await rows<Record<string, unknown>>("select * from events where subscription_id = $1", record.id);
    assert.equal(events.length, 1);
    const [{ payload, ...event } = {}] = events;
    assert.deepEqual(event, {
      id: event["id"],
      event: "subscription.created",
      vendor_id: event["vendor_id"],
      subscription_id: record.id,
      sequence: 1,
      occurred_at: new Date(record.createdAt),
      sandbox: false,
    });
    const [vendor] = await rows("select slug from vendors where id = $1", event["vendor_id"]);
    assert.deepEqual(vendor, { slug: "northwind-health" });
    const read = JSON.parse(String(payload)) as object;
    assertShape("SubscriptionEvent", read);
    const { id, slug, name, iconUrl, category, extensionPoints, smartLaunchUrl, fhirScopes } = app;
    assert.deepEqual(read, {
      event: "subscription.created",
      app: { id, slug, name, iconUrl, category, extensionPoints, smartLaunchUrl, fhirScopes },
      subscription: { id: record.id, status: "active", orgAlias: "riverside-clinic" },
      timestamp: record.createdAt,
    });
    const audit = await marketplace.requestAs("operator", "/organisations/riverside-clinic/audit");
    const [entry] = ((await audit.json()) as AuditPage).items;
    const { pricingPlan: _plan, ...state } = record;
    assert.deepEqual(
      [entry?.action, entry?.target, entry?.actor.role, entry?.before, entry?.after, entry?.at],
      [
        "subscription.create",
        { kind: "subscription", id: record.id },
        "operator",
        null,
        { ...state, blockReason: null },
        record.createdAt,
      ],
    );
  });

  for (const [model, slug] of [
    ["PER_UNIT", "lumen-schedule"],
    ["TIERED", "stickleback-labels"],
  ] as const) {
    test(`a ${model} plan has the requested quantity, and 1 by default`, async () => {
      const one = await subscribed(marketplace, slug, { model });
      assert.equal(one.quantity, 1);
      const most = await subscribed(marketplace, slug, {
        model,
        quantity: 2_147_483_647,
        by: "hilltop-admin",
        orgAlias: "hilltop-family-practice",
      });
      assert.equal(most.quantity, 2_147_483_647);
    });
  }

  for (const [model, slug] of [
    ["FREE", "cafe-intake"],
    ["FLAT", "consent-ledger"],
    ["USAGE", "scanshelf"],
  ] as const) {
    test(`a ${model} plan has no quantity, and refuses one`, async () => {
      const refused = await subscribe(marketplace, slug, { model, quantity: 1 });
      const problem = await assertProblem(refused, 422, "quantity-not-counted");
      assert.deepEqual(problem["errors"], [{ pointer: "/body/quantity", detail: "is not allowed for this plan" }]);
      assert.equal((await subscribed(marketplace, slug, { model, quantity: null })).quantity, null);
    });
  }

  test("each organisation has one trial of an app", async () => {
    const first = await subscribed(marketplace, "inbox-heron", { model: "PER_UNIT" });
    assert.equal(Date.parse(String(first.trialEndsAt)), Date.parse(first.createdAt) + 14 * dayMs);
    await cancel(first.id);
    const again = await subscribed(marketplace, "inbox-heron", { model: "PER_UNIT" });
    assert.equal(again.trialEndsAt, null);
    await cancel(again.id);
    assert.equal((await subscribed(marketplace, "inbox-heron", { model: "FLAT" })).trialEndsAt, null);
    const another = { by: "hilltop-admin", orgAlias: "hilltop-family-practice" } as const;
    assert.notEqual((await subscribed(marketplace, "inbox-heron", another)).trialEndsAt, null);
    assert.notEqual((await subscribed(marketplace, "lab-lantern")).trialEndsAt, null);
  });

  test("a plan without a trial doesn't use up the trial", async () => {
    const first = await subscribed(marketplace, "waitlist-wren", { model: "USAGE" });
    assert.equal(first.trialEndsAt, null);
    await cancel(first.id);
    assert.notEqual((await subscribed(marketplace, "waitlist-wren", { model: "FLAT" })).trialEndsAt, null);
  });

  test("a subscription keeps and shows its plan when it is retired; new subscriptions can't use it", async () => {
    const headers = { "idempotency-key": "before it was retired" };
    const pricingPlanId = await planOf(marketplace, "ten-year-heart");
    const body = { appSlug: "ten-year-heart", orgAlias: "riverside-clinic", pricingPlanId };
    const post = (): Promise<Response> => marketplace.requestAs("riverside-admin", "/subscriptions", { body, headers });
    const taken = (await (await post()).json()) as SubscriptionDto;
    assertShape("PricingPlanDto", taken.pricingPlan);
    assert.equal(taken.pricingPlan.id, pricingPlanId);
    await rows("update pricing_plans set retired_at = now() where id = $1", pricingPlanId);
    const { vendor } = (await (await marketplace.get("/apps/ten-year-heart")).json()) as AppDto;
    const read = async (who: "riverside-admin" | "billing" | "operator", path: string): Promise<unknown> =>
      (await marketplace.requestAs(who, path, { headers: { "x-vendor-slug": vendor.slug } })).json();
    assert.deepEqual(await read("riverside-admin", `/subscriptions/${taken.id}`), taken);
    assert.deepEqual(await (await post()).json(), taken, "the response to a repeated request");
    const [listed] = (await read("riverside-admin", "/subscriptions?orgAlias=riverside-clinic&limit=1")) as unknown[];
    assert.deepEqual(listed, taken);
    const page = { items: [taken], next: null };
    assert.deepEqual(await read("billing", "/admin/subscriptions?appSlug=ten-year-heart"), page);
    assert.deepEqual(await read("operator", "/developer/subscriptions?appSlug=ten-year-heart"), page);
    const cancelled = (await (await cancel(taken.id)).json()) as SubscriptionDto;
    assert.deepEqual(cancelled.pricingPlan, taken.pricingPlan);
    const another = { ...body, orgAlias: "hilltop-family-practice" };
    const refused = await marketplace.requestAs("hilltop-admin", "/subscriptions", { body: another });
    await assertProblem(refused, 422, "unknown-plan");
  });

  test("of concurrent requests for the same organisation and app, one succeeds", async () => {
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        subscribe(marketplace, "quiet-room", index % 2 === 0 ? {} : { by: "operator", model: "PER_UNIT" }),
      ),
    );
    const statuses = responses.map(({ status }) => status);
    assert.deepEqual(
      statuses.toSorted((a, b) => a - b),
      [201, ...Array<number>(11).fill(409)],
    );
    const [left] = await rows<{ subscriptions: number; events: number; audited: number }>(`
      select count(*)::int as subscriptions,
        (select count(*)::int from events where subscription_id is not null and payload like '%quiet-room%') as events,
        (select count(*)::int from audit_entries where after->>'appSlug' = 'quiet-room') as audited
      from subscriptions join apps on apps.id = app_id where slug = 'quiet-room'`);
    assert.deepEqual(left, { subscriptions: 1, events: 1, audited: 1 });
  });
});
