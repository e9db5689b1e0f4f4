import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { AuditPage, EstimateDto, PricingPlanDto, SubscriptionDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { subscribed } from "./subscribe.test-support.ts";

type Persona = Parameters<MarketplaceWithCallers["requestAs"]>[0];
const app = "northwind-scribe";

describe("changing the plan or the quantity of a subscription", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let plans: PricingPlanDto[];
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    plans = (await (await marketplace.get(`/apps/${app}/pricing`)).json()) as PricingPlanDto[];
  });
  const rows = async <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  const planWith = (model: string): PricingPlanDto =>
    plans.find(({ pricingModel }) => pricingModel === model) ?? assert.fail(`no plan is ${model}`);
  const subscribe = async (model = "PER_UNIT", quantity?: number): Promise<SubscriptionDto> => {
    const live = await rows<{ id: string }>("select id from subscriptions where status <> 'cancelled'");
    for (const { id } of live)
      await marketplace.requestAs("operator", `/subscriptions/${id}/cancel`, { method: "POST" });
    return subscribed(marketplace, app, { by: "operator", model, ...(quantity === undefined ? {} : { quantity }) });
  };
  const insertPlan = async (currency: string): Promise<string> => {
    const [inserted] = await rows<{ id: string }>(
      `insert into pricing_plans
         (id, app_id, position, name, description, pricing_model, currency, amount, interval, unit_name, published_at)
       select mint_uuid(), id, 9, mint_uuid()::text, '', 'PER_UNIT', $2, 100, 'MONTH', 'seat', now()
       from apps where slug = $1 returning id`,
      app,
      currency,
    );
    return inserted?.id ?? assert.fail();
  };
  const retirePlan = (id: string): Promise<unknown> =>
    rows("update pricing_plans set retired_at = now() where id = $1", id);
  const change = (id: string, body: object, by: Persona = "riverside-admin", key?: string): Promise<Response> =>
    marketplace.requestAs(by, `/subscriptions/${id}/plan`, {
      body,
      ...(key === undefined ? {} : { headers: { "idempotency-key": key } }),
    });
  const changed = async (id: string, body: object, key?: string): Promise<SubscriptionDto> => {
    const response = await change(id, body, "riverside-admin", key);
    assert.equal(response.status, 200, await response.clone().text());
    const record = (await response.json()) as SubscriptionDto;
    assertShape("SubscriptionDto", record);
    return record;
  };
  const eventsOf = async (id: string): Promise<string[]> =>
    (await rows<{ event: string }>("select event from events where subscription_id = $1 order by sequence", id)).map(
      ({ event }) => event,
    );

  test("shows the new plan, keeps what was before, tells EHR and vendor, and is audited", async () => {
    const created = await subscribe("PER_UNIT", 3);
    const metered = planWith("USAGE");
    const record = await changed(created.id, { pricingPlanId: metered.id });
    assert.deepEqual(
      [record.pricingPlanId, record.pricingPlan, record.quantity, record.status],
      [metered.id, metered, null, "active"],
    );
    assert.deepEqual(await eventsOf(created.id), ["subscription.created", "subscription.updated"]);
    assert.deepEqual(
      await rows("select pricing_plan_id, quantity, ended_at from ended_terms where subscription_id = $1", created.id),
      [{ pricing_plan_id: created.pricingPlanId, quantity: 3, ended_at: new Date(record.updatedAt) }],
    );
    const audit = (await (
      await marketplace.requestAs("riverside-admin", "/organisations/riverside-clinic/audit?limit=1")
    ).json()) as AuditPage;
    const [entry] = audit.items;
    const terms = (state: unknown): unknown => (state as SubscriptionDto).pricingPlanId;
    assert.deepEqual(
      [entry?.action, terms(entry?.before), terms(entry?.after)],
      ["subscription.change-terms", created.pricingPlanId, metered.id],
    );
  });

  test("changes the quantity by itself, keeps it without one, and the same terms change nothing", async () => {
    const created = await subscribe("PER_UNIT", 3);
    const { pricingPlanId } = created;
    assert.equal((await changed(created.id, { pricingPlanId, quantity: 5 })).quantity, 5);
    assert.equal((await changed(created.id, { pricingPlanId })).quantity, 5);
    assert.equal((await changed(created.id, { pricingPlanId, quantity: 5 })).quantity, 5);
    assert.deepEqual(await eventsOf(created.id), ["subscription.created", "subscription.updated"]);
  });

  test("an increase that is taken back within the hour isn't charged, once in seven days", async () => {
    const { id, pricingPlanId } = await subscribe("PER_UNIT", 1);
    await rows("alter table subscriptions disable trigger user");
    await rows("update subscriptions set trial_ends_at = null where id = $1", id);
    await rows("alter table subscriptions enable trigger user");
    // What other tests have agreed to today.
    await rows("delete from active_periods where subscription_id <> $1", id);
    const charged = async (): Promise<string[]> => {
      const response = await marketplace.requestAs("riverside-member", `/subscriptions/${id}/estimate`);
      return ((await response.json()) as EstimateDto).lines.map(({ quantity }) => quantity);
    };
    assert.deepEqual(await charged(), ["1"]);
    await changed(id, { pricingPlanId, quantity: 50 });
    await changed(id, { pricingPlanId, quantity: 100 });
    assert.deepEqual(await charged(), ["100"]);
    await changed(id, { pricingPlanId, quantity: 1 });
    assert.deepEqual(await charged(), ["1"], "the first one");
    await changed(id, { pricingPlanId, quantity: 20 });
    await changed(id, { pricingPlanId, quantity: 1 });
    assert.deepEqual(await charged(), ["20"], "the second one");
    await assert.rejects(
      rows("insert into undone_increases select $1, now() - interval '1 minute', now() + interval '6 days'", id),
      /check|once in seven days/,
    );
  });

  test("begins with one unit, if there were none", async () => {
    const created = await subscribe("USAGE");
    assert.equal((await changed(created.id, { pricingPlanId: planWith("PER_UNIT").id })).quantity, 1);
  });

  test("ends a trial with the shorter one of the new plan: free days stay free, and no change makes it longer", async () => {
    const dayMs = 86_400_000;
    const day = (date: string | null): number => (Date.parse(date ?? "") - Date.now()) / dayMs;
    const [none, short, long] = [await insertPlan("USD"), await insertPlan("USD"), await insertPlan("USD")];
    await rows("alter table pricing_plans disable trigger user");
    await rows(
      "update pricing_plans set trial_days = case when id = $1 then 30 else 90 end where id in ($1, $2)",
      short,
      long,
    );
    await rows("alter table pricing_plans enable trigger user");
    const created = await subscribe("PER_UNIT", 1);
    const begin = async (trialEndsAt: string | null): Promise<void> => {
      await rows("alter table subscriptions disable trigger user");
      // A practice has one trial of an app.
      await rows("update subscriptions set trial_ends_at = null");
      const statement =
        "update subscriptions set created_at = now() - interval '20 days', trial_ends_at = $2 where id = $1";
      await rows(statement, created.id, trialEndsAt);
      await rows("alter table subscriptions enable trigger user");
    };
    await begin(new Date(Date.now() + 70 * dayMs).toISOString());
    const onShort = await changed(created.id, { pricingPlanId: short });
    assert.ok(Math.abs(day(onShort.trialEndsAt) - 10) < 0.1, "30 days from the start");
    const onLong = await changed(created.id, { pricingPlanId: long });
    assert.equal(onLong.trialEndsAt, onShort.trialEndsAt);
    const onMore = await changed(created.id, { pricingPlanId: long, quantity: 100 });
    assert.equal(onMore.trialEndsAt, onShort.trialEndsAt);
    const onNone = await changed(created.id, { pricingPlanId: none });
    assert.equal(onNone.trialEndsAt, onNone.updatedAt, "not before now");

    const past = new Date(Date.now() - 10 * dayMs).toISOString();
    for (const trialEndsAt of [past, null]) {
      await begin(trialEndsAt);
      assert.equal((await changed(created.id, { pricingPlanId: long })).trialEndsAt, trialEndsAt);
      await changed(created.id, { pricingPlanId: none });
    }
  });

  test("keeps a plan that is no longer on sale, and its quantity can change", async () => {
    const created = await subscribe("PER_UNIT", 2);
    const pricingPlanId = await insertPlan("USD");
    await changed(created.id, { pricingPlanId });
    await retirePlan(pricingPlanId);
    assert.equal((await changed(created.id, { pricingPlanId, quantity: 9 })).quantity, 9);
    await changed(created.id, { pricingPlanId: planWith("USAGE").id });
    await assertProblem(await change(created.id, { pricingPlanId }), 422, "unknown-plan");
  });

  test("a repeated request with the same Idempotency-Key changes once", async () => {
    const created = await subscribe("PER_UNIT", 2);
    const body = { pricingPlanId: created.pricingPlanId, quantity: 4 };
    const first = await changed(created.id, body, "change-once");
    await changed(created.id, { ...body, quantity: 6 });
    assert.deepEqual(await changed(created.id, body, "change-once"), first);
    assert.equal((await eventsOf(created.id)).length, 3);
  });

  test("is refused for another app's plan, another currency, a quantity without units, and a cancelled subscription", async () => {
    const created = await subscribe("PER_UNIT", 2);
    const other = (await (await marketplace.get("/apps/lumen-schedule/pricing")).json()) as PricingPlanDto[];
    await assertProblem(await change(created.id, { pricingPlanId: other[0]?.id }), 422, "unknown-plan");
    const pricingPlanId = await insertPlan("EUR");
    await assertProblem(await change(created.id, { pricingPlanId }), 422, "other-currency");
    await retirePlan(pricingPlanId);
    const flat = { pricingPlanId: planWith("USAGE").id, quantity: 2 };
    await assertProblem(await change(created.id, flat), 422, "quantity-not-counted");
    await marketplace.requestAs("riverside-admin", `/subscriptions/${created.id}/cancel`, { method: "POST" });
    const same = { pricingPlanId: created.pricingPlanId, quantity: 3 };
    await assertProblem(await change(created.id, same), 409, "subscription-cancelled");
  });

  test("the database refuses another currency and terms of a cancelled subscription, whoever writes", async () => {
    const created = await subscribe("PER_UNIT", 2);
    const set = "revision = revision + 1, updated_at = updated_at + interval '1 second'";
    const [foreign] = await rows<{ id: string }>(
      "select id from pricing_plans where currency = 'EUR' and app_id = $1",
      created.appId,
    );
    await assert.rejects(
      rows(`update subscriptions set pricing_plan_id = $2, ${set} where id = $1`, created.id, foreign?.id),
      /currency/,
    );
    await marketplace.requestAs("operator", `/subscriptions/${created.id}/cancel`, { method: "POST" });
    await assert.rejects(
      rows(`update subscriptions set quantity = 9, ${set} where id = $1`, created.id),
      /stays cancelled/,
    );
  });

  test("concurrent changes are all kept", async () => {
    const created = await subscribe("PER_UNIT", 1);
    const { pricingPlanId } = created;
    await Promise.all([2, 3, 4, 5, 6].map((quantity) => changed(created.id, { pricingPlanId, quantity })));
    const ended = await rows<{ quantity: number }>(
      "select quantity from ended_terms where subscription_id = $1 union all select quantity from subscriptions where id = $1",
      created.id,
    );
    assert.deepEqual(
      ended.map(({ quantity }) => quantity).toSorted((a, b) => a - b),
      [1, 2, 3, 4, 5, 6],
    );
  });
});
