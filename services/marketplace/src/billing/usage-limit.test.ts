import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, beforeEach, describe, test } from "node:test";
import type {
  AuditPage,
  EstimateDto,
  PricingPlanDto,
  QuoteDto,
  SubscriptionDto,
  UsageResult,
} from "@ehr-marketplace/contracts";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { subscribed } from "../subscriptions/subscribe.test-support.ts";

/** "By the note" of Northwind Scribe: 40 notes included, then 85 cents each. So 52 notes cost 1,020. */
const app = "northwind-scribe";
const defaultAmount = 1_020;

describe("usage without a limit of the practice's own", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    const environment = { DEFAULT_USAGE_LIMITS: `USD=${defaultAmount}` };
    marketplace = await startMarketplaceWithCallers(cleanUp, environment);
  });
  beforeEach(async () => {
    const live = await query<{ id: string }>("select id from subscriptions where status <> 'cancelled'");
    for (const { id } of live)
      await marketplace.requestAs("operator", `/subscriptions/${id}/cancel`, { method: "POST" });
    // All of a practice's subscriptions to an app are one account, with one limit.
    for (const table of ["spend_limits", "reached_limits", "usage_days", "notices"])
      await query(`delete from ${table}`);
  });
  const query = <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  const json = async <T>(response: Response | Promise<Response>, status = 200): Promise<T> => {
    const settled = await response;
    assert.equal(settled.status, status, await settled.clone().text());
    return (await settled.json()) as T;
  };
  const subscribe = async (): Promise<string> =>
    (await subscribed(marketplace, app, { by: "operator", model: "USAGE" })).id;
  const usageOf = (quantity: number, given: object = {}) => ({
    id: randomUUID(),
    metric: "notes",
    quantity,
    occurredAt: new Date().toISOString(),
    ...given,
  });
  const report = async (id: string, ...records: object[]): Promise<[string, string | null][]> => {
    const sent = marketplace.requestAs("northwind-developer", `/subscriptions/${id}/usage`, { body: { records } });
    const { results } = await json<{ results: UsageResult[] }>(sent);
    return results.map(({ status, reason }) => [status, reason]);
  };
  const limit = (id: string, amount: number): Promise<Response> =>
    marketplace.requestAs("riverside-admin", `/subscriptions/${id}/spend-limit`, {
      method: "PUT",
      body: { amount, onReached: "pause" },
    });
  const unlimit = (id: string): Promise<Response> =>
    marketplace.requestAs("riverside-admin", `/subscriptions/${id}/spend-limit`, { method: "DELETE" });
  const act = (id: string, action: string, body?: object): Promise<Response> =>
    marketplace.requestAs("riverside-admin", `/subscriptions/${id}/${action}`, { method: "POST", body });
  const read = (id: string): Promise<SubscriptionDto> =>
    json(marketplace.requestAs("riverside-member", `/subscriptions/${id}`));
  const estimate = async (id: string): Promise<EstimateDto> => {
    const found = await json<EstimateDto>(marketplace.requestAs("riverside-member", `/subscriptions/${id}/estimate`));
    assertShape("EstimateDto", found);
    return found;
  };
  const refusalOf = async (response: Promise<Response>): Promise<string> => {
    const { detail } = await assertProblem(await response, 409, "spend-limit-reached");
    return String(detail);
  };
  const accepted = ["accepted", null];
  const refused = ["rejected", "spend-limit"];

  test("has the operator's default from the first day, which the quote and the estimate show", async () => {
    const plans = await json<PricingPlanDto[]>(marketplace.requestAs("riverside-admin", `/apps/${app}/pricing`));
    const quoteOf = async (model: string): Promise<QuoteDto> => {
      const body = { pricingPlanId: plans.find(({ pricingModel }) => pricingModel === model)?.id };
      return json(marketplace.requestAs("riverside-admin", `/apps/${app}/estimate`, { body }));
    };
    const expected = { amount: defaultAmount, currency: "USD", onReached: "pause", isDefault: true };
    assert.deepEqual((await quoteOf("USAGE")).spendLimit, expected);
    assert.equal((await quoteOf("PER_UNIT")).spendLimit, null);
    assert.deepEqual((await estimate(await subscribe())).spendLimit, expected);
  });

  test("is rejected where it would exceed that; it pauses the app, and is noticed", async () => {
    const id = await subscribe();
    const tooMuch = usageOf(53);
    const results = await report(id, usageOf(51), tooMuch, usageOf(1), usageOf(4e14), usageOf(1));
    assert.deepEqual(results, [accepted, refused, accepted, refused, refused]);
    assert.equal((await estimate(id)).total, defaultAmount);
    const { status, pauseReason } = await read(id);
    assert.deepEqual([status, pauseReason], ["paused", "SPEND_LIMIT"]);
    const notices = await query<{ subject: string; detail: string }>("select subject, detail from notices");
    assert.equal(notices.length, 1);
    assert.match(notices[0]?.subject ?? "", / is paused at its limit: 10\.20 of 10\.20 USD/);
    // The cheapest of the rejected ones, a note, when 52 were counted.
    const advice =
      /^Usage that would have cost more was rejected\. It is paused\. .* raise the limit to at least 11\.05 USD/;
    assert.match(notices[0]?.detail ?? "", advice);
    const audit = await json<AuditPage>(
      marketplace.requestAs("riverside-admin", "/organisations/riverside-clinic/audit?action=subscription.pause"),
    );
    const { issuer, role } = audit.items[0]?.actor ?? {};
    assert.deepEqual([issuer, role], ["marketplace", "operator"], "nobody of the practice has set that limit");
    assert.deepEqual(await report(id, usageOf(1)), [["rejected", "The subscription was paused at that time."]]);
    // Within 35 days, what occurred before the pause may be sent again once the limit is higher.
    await json(limit(id, 20_000));
    assert.deepEqual(await report(id, tooMuch), [accepted]);
  });

  test("pauses the app although the limit isn't quite reached, until it is raised by what was refused", async () => {
    const id = await subscribe();
    await report(id, usageOf(51));
    assert.deepEqual(await report(id, usageOf(2)), [refused]);
    assert.equal((await estimate(id)).total, defaultAmount - 85);
    const raise = /Usage was rejected: raise the limit to at least 11\.05 USD/;
    assert.match(await refusalOf(act(id, "resume")), raise);
    await json(limit(id, defaultAmount + 1));
    assert.match(await refusalOf(act(id, "resume")), raise);
    await json(limit(id, 1_105));
    assert.equal((await json<SubscriptionDto>(act(id, "resume"))).status, "active");
    assert.deepEqual(await report(id, usageOf(2)), [accepted]);
  });

  test("needs at most twice the limit, whatever a faulty report would have cost", async () => {
    const id = await subscribe();
    assert.deepEqual(await report(id, usageOf(4e14)), [refused]);
    await json(limit(id, 2 * defaultAmount));
    assert.equal((await json<SubscriptionDto>(act(id, "resume"))).status, "active");
  });

  test("isn't free after cancelling and subscribing again, either", async () => {
    const id = await subscribe();
    await report(id, usageOf(51));
    await report(id, usageOf(2));
    await json(act(id, "cancel"));
    assert.equal((await read(await subscribe())).pauseReason, "SPEND_LIMIT");
  });

  test("of all of a practice's subscriptions to an app together doesn't exceed it, however concurrent", async () => {
    const earlier = await subscribe();
    const occurredAt = new Date().toISOString();
    await json(act(earlier, "cancel"));
    const ids = [earlier, await subscribe()];
    // The first one at a time of its own, both at once.
    const reports = ids.flatMap((id) =>
      Array.from({ length: 8 }, () => report(id, usageOf(13, id === earlier ? { occurredAt } : {}))),
    );
    const results = (await Promise.all(reports)).flat();
    assert.equal(results.filter(([status]) => status === "accepted").length, 4);
  });

  test("counts toward the month in which it occurred, whose limit pauses nothing once it is over", async () => {
    const id = await subscribe();
    // Subscribed in the month before, where nothing was used.
    await query("alter table subscriptions disable trigger user");
    await query(
      "update subscriptions set created_at = date_trunc('month', now()) - interval '2 days', active_since = date_trunc('month', now()) - interval '2 days' where id = $1",
      id,
    );
    await query("alter table subscriptions enable trigger user");
    await report(id, usageOf(51));
    const thisMonth = new Date();
    const late = {
      occurredAt: new Date(Date.UTC(thisMonth.getUTCFullYear(), thisMonth.getUTCMonth()) - 1).toISOString(),
    };
    assert.deepEqual(await report(id, usageOf(52, late), usageOf(1, late)), [accepted, refused]);
    assert.equal((await read(id)).status, "active");
    const [notice] = await query<{ detail: string }>("select detail from notices where detail like '%rejected%'");
    assert.match(notice?.detail ?? "", /The vendor can report it again if you raise the limit/);
  });

  test("voided in the same batch makes room, and voids always pass", async () => {
    const id = await subscribe();
    const first = usageOf(51);
    await report(id, first);
    const undo = { id: first.id, occurredAt: first.occurredAt, void: true };
    assert.deepEqual(await report(id, usageOf(52), undo, usageOf(1)), [accepted, accepted, refused]);
  });

  test("has a limit of 100,000 records a day", async () => {
    const id = await subscribe();
    await report(id, usageOf(0));
    await query("update usage_reporters set records = 99998 where subscription_id = $1", id);
    const [first, second, third] = await report(id, usageOf(0), usageOf(0), usageOf(0));
    assert.deepEqual([first, second], [accepted, accepted]);
    assert.match(String(third?.[1]), /100000 records were counted today/);
    await query("update usage_reporters set day = day - 1 where subscription_id = $1", id);
    assert.deepEqual(await report(id, usageOf(0)), [accepted]);
    // What the spend limit refuses makes no room for what nobody has compared with it.
    await query("update usage_reporters set records = 99999 where subscription_id = $1", id);
    const [refusedOne, tooMany] = await report(id, usageOf(60), usageOf(4e14));
    assert.deepEqual(refusedOne, refused);
    assert.match(String(tooMany?.[1]), /100000 records were counted today/);
  });

  test("has the practice's limit where that is set when subscribing, and the default again when it is removed", async () => {
    const spendLimit = { amount: 50_000, onReached: "pause" } as const;
    const { id } = await subscribed(marketplace, app, { by: "operator", model: "USAGE", more: { spendLimit } });
    assert.deepEqual((await estimate(id)).spendLimit, { ...spendLimit, currency: "USD", isDefault: false });
    assert.deepEqual(await report(id, usageOf(60)), [accepted]);
    const { detail } = await assertProblem(await unlimit(id), 409, "limit-below-cost");
    assert.match(String(detail), /has cost 17\.00 USD so far/);
    await query("delete from usage_days");
    assert.equal((await unlimit(id)).status, 204);
    assert.equal((await estimate(id)).spendLimit?.isDefault, true);
  });

  test("is compared when terms change: those that would reach the limit are refused", async () => {
    const { id } = await subscribed(marketplace, app, { by: "operator", model: "PER_UNIT", quantity: 1 });
    await query("alter table subscriptions disable trigger user");
    await query("update subscriptions set trial_ends_at = null where id = $1", id);
    await query("alter table subscriptions enable trigger user");
    const { total } = await estimate(id);
    await json(limit(id, Number(total) * 3));
    const { pricingPlanId } = await read(id);
    const change = (quantity: number): Promise<Response> => act(id, "plan", { pricingPlanId, quantity });
    assert.equal((await json<SubscriptionDto>(change(2))).quantity, 2);
    const { detail } = await assertProblem(await change(4), 409, "spend-limit-reached");
    assert.match(String(detail), /With these terms .* Nothing was changed/);
    const after = await read(id);
    assert.deepEqual([after.quantity, after.status], [2, "active"]);
  });
});
