import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type { EstimateDto, PricingPlanDto, QuoteDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { planOf, subscribed } from "../subscriptions/subscribe.test-support.ts";

const app = "northwind-scribe";
/** "By the note": 40 included, then 85 cents each. */
const included = 40;
const each = 85;

describe("what a plan costs", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const json = async <T>(response: Response | Promise<Response>, status = 200): Promise<T> => {
    const settled = await response;
    assert.equal(settled.status, status, await settled.clone().text());
    return (await settled.json()) as T;
  };
  const estimate = (id: string): Promise<EstimateDto> =>
    json(marketplace.requestAs("riverside-member", `/subscriptions/${id}/estimate`));
  const quote = (body: object, slug = app): Promise<Response> =>
    marketplace.requestAs(null, `/apps/${slug}/estimate`, { body });

  test("this month is estimated from usage as soon as it is reported", async () => {
    const { id } = await subscribed(marketplace, app, { model: "USAGE" });
    assert.deepEqual((await estimate(id)).lines, []);
    const records = [
      { id: randomUUID(), metric: "notes", quantity: included + 10, occurredAt: new Date().toISOString() },
    ];
    await json(marketplace.requestAs("northwind-developer", `/subscriptions/${id}/usage`, { body: { records } }));
    const estimated = await estimate(id);
    assertShape("EstimateDto", estimated);
    assert.deepEqual(estimated.lines, [
      {
        description: "By the note, notes",
        quantity: "10",
        unitAmount: each,
        days: null,
        intervalDays: null,
        amount: 10 * each,
      },
    ]);
    assert.deepEqual([estimated.currency, Number(estimated.total)], ["USD", 10 * each]);
    assert.ok(estimated.projectedTotal >= estimated.total);
    assert.equal(estimated.month, new Date().toISOString().slice(0, 7));
  });

  test("a practice learns before it subscribes: this month from today, and a month in full", async () => {
    const pricingPlanId = await planOf(marketplace, app, "USAGE");
    const quoted = await json<QuoteDto>(quote({ pricingPlanId, usage: included + 100 }));
    assertShape("QuoteDto", quoted);
    assert.equal(Number(quoted.fullMonth.total), 100 * each);
    assert.ok(quoted.firstMonth.total <= quoted.fullMonth.total);
    assert.ok(quoted.fullMonth.month > quoted.firstMonth.month);
  });

  test("a trial is free in the first month", async () => {
    const plans = await json<PricingPlanDto[]>(marketplace.get(`/apps/${app}/pricing`));
    const trial = plans.find(({ trialDays }) => trialDays > 0) ?? assert.fail("no plan has a trial");
    const quoted = await json<QuoteDto>(quote({ pricingPlanId: trial.id }));
    const left = quoted.firstMonth.lines[0]?.days ?? 0;
    const today = new Date();
    const days = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 0)).getUTCDate();
    assert.ok(left <= Math.max(0, days - today.getUTCDate() + 1 - trial.trialDays + 1), `${left} days are charged`);
    assert.ok(quoted.fullMonth.total > 0);
    const paid = await json<QuoteDto>(quote({ pricingPlanId: trial.id, trial: false }));
    assert.ok(paid.firstMonth.total > quoted.firstMonth.total);
    assert.deepEqual(paid.fullMonth, quoted.fullMonth);
  });

  test("an estimate of what can't be is refused", async () => {
    const pricingPlanId = await planOf(marketplace, app, "PER_UNIT");
    const metered = await planOf(marketplace, app, "USAGE");
    await assertProblem(await quote({ pricingPlanId: randomUUID() }), 422, "unknown-plan");
    await assertProblem(await quote({ pricingPlanId }, "no-such-app"), 404, "app-not-found");
    await assertProblem(await quote({ pricingPlanId, usage: 1 }), 422, "usage-not-charged");
    await assertProblem(await quote({ pricingPlanId: metered, quantity: 1 }), 422, "quantity-not-counted");
    for (const usage of [-1, "1e9", "0.0000001"])
      await assertProblem(await quote({ pricingPlanId: metered, usage }), 400, "invalid-request");
  });

  test("amounts beyond what a JavaScript number can represent are exact", async () => {
    const pricingPlanId = await planOf(marketplace, app, "USAGE");
    const response = await quote({ pricingPlanId, usage: "999999999999999" });
    const exact = (999_999_999_999_999n - BigInt(included)) * BigInt(each);
    assert.match(await response.text(), new RegExp(`"total":${exact}\\b`));
  });
});
