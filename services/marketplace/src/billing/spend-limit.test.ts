import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type { AuditPage, EstimateDto, SubscriptionDto, UsageResults } from "@ehr-marketplace/contracts";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/service-environments";
import { createKeyedDigest, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { connectAsService } from "@ehr-marketplace/tests/support/service-connection";
import type { RequestContext } from "../access/request-context.ts";
import type { DB } from "../database-schema.ts";
import { changeSubscription } from "../subscriptions/change-subscription.ts";
import { subscribed } from "../subscriptions/subscribe.test-support.ts";
import { checkSpendLimits } from "./check-spend-limits.ts";
import { decideSpend } from "./spend-limit.ts";
import { highUsageLimits } from "./usage-limits.test-support.ts";

describe("a spend limit of 1,000", () => {
  for (const [spent, percent] of [
    [0n, null],
    [799n, null],
    [800n, 80],
    [999n, 80],
    [1_000n, 100],
    [5_000n, 100],
  ] as const) {
    test(`at ${spent}: ${percent === null ? "nothing" : `${percent} %`}`, () => {
      const limit = { amount: 1_000n };
      assert.deepEqual(decideSpend({ ...limit, onReached: "notify" }, spent), {
        reachedPercent: percent,
        pauses: false,
      });
      assert.equal(decideSpend({ ...limit, onReached: "pause" }, spent).pauses, percent === 100);
    });
  }
});

describe("the spend limit of a subscription", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const query = <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  const json = async <T>(response: Response | Promise<Response>, status = 200): Promise<T> => {
    const settled = await response;
    assert.equal(settled.status, status, await settled.clone().text());
    return (await settled.json()) as T;
  };
  /** "By the note": 40 included, then 85 cents each. The first 40 are used. */
  const subscribe = async (): Promise<string> => {
    const live = await query<{ id: string }>("select id from subscriptions where status <> 'cancelled'");
    for (const { id } of live)
      await marketplace.requestAs("operator", `/subscriptions/${id}/cancel`, { method: "POST" });
    // All of a practice's subscriptions to an app are one account, with one limit.
    await query("delete from spend_limits");
    await query("delete from reached_limits");
    await query("delete from usage_days");
    const { id } = await subscribed(marketplace, "northwind-scribe", { by: "operator", model: "USAGE" });
    await report(id, 40);
    return id;
  };
  const report = (id: string, quantity: number): Promise<UsageResults> => {
    const records = [{ id: randomUUID(), metric: "notes", quantity, occurredAt: new Date().toISOString() }];
    return json(marketplace.requestAs("northwind-developer", `/subscriptions/${id}/usage`, { body: { records } }));
  };
  const limit = (id: string, body: object): Promise<Response> =>
    marketplace.requestAs("riverside-admin", `/subscriptions/${id}/spend-limit`, { method: "PUT", body });
  /** Also below what the month has cost. */
  const limited = async (id: string, amount: number, onReached: "notify" | "pause"): Promise<void> =>
    assertShape("SpendLimitDto", await json(limit(id, { amount, onReached, confirm: true })));
  const read = (id: string): Promise<SubscriptionDto> =>
    json(marketplace.requestAs("riverside-member", `/subscriptions/${id}`));
  const estimate = (id: string): Promise<EstimateDto> =>
    json(marketplace.requestAs("riverside-member", `/subscriptions/${id}/estimate`));
  const resume = (id: string): Promise<Response> =>
    marketplace.requestAs("riverside-admin", `/subscriptions/${id}/resume`, { method: "POST" });
  const noticesOf = async (id: string): Promise<string[]> =>
    (await query<{ subject: string }>("select subject from notices where link like $1 order by id", `%${id}%`)).map(
      ({ subject }) => subject.replace(/.*reached (\d+) %.*/, "$1").replace(/.* is paused at its limit.*/, "paused"),
    );
  const pausesOf = async (id: string): Promise<number> =>
    (await query("select from events where subscription_id = $1 and event = 'subscription.paused'", id)).length;

  test("is noticed at 80 % and at 100 %, once each, and pauses only if so decided", async () => {
    const id = await subscribe();
    await limited(id, 1_000, "notify");
    const own = { amount: 1_000, currency: "USD", onReached: "notify", isDefault: false };
    assert.deepEqual((await estimate(id)).spendLimit, own);
    for (const [notes, expected] of [
      [9, []],
      [1, ["80"]],
      [1, ["80"]],
      [1, ["80", "100"]],
      [9, ["80", "100"]],
    ] as const) {
      await report(id, notes);
      assert.deepEqual(await noticesOf(id), expected);
    }
    assert.equal((await read(id)).status, "active");
  });

  test("pauses for SPEND_LIMIT on behalf of whoever has set it; resuming needs a higher limit, a removed one or the next month", async () => {
    const id = await subscribe();
    // 12 notes cost 1,020.
    await limited(id, 1_020, "pause");
    await report(id, 12);
    const paused = await read(id);
    assert.deepEqual([paused.status, paused.pauseReason], ["paused", "SPEND_LIMIT"]);
    assert.deepEqual((await report(id, 1)).results[0]?.reason, "The subscription was paused at that time.");
    const audit = await json<AuditPage>(
      marketplace.requestAs("riverside-admin", "/organisations/riverside-clinic/audit?action=subscription.pause"),
    );
    assert.equal(audit.items[0]?.actor.role, "org-admin");
    await assertProblem(await resume(id), 409, "spend-limit-reached");
    await limited(id, 2_040, "pause");
    assert.equal((await json<SubscriptionDto>(resume(id))).status, "active");
    await report(id, 12);
    assert.equal((await read(id)).status, "paused");
    assert.equal(
      (await marketplace.requestAs("riverside-admin", `/subscriptions/${id}/spend-limit`, { method: "DELETE" })).status,
      204,
    );
    assert.equal((await json<SubscriptionDto>(resume(id))).status, "active");
    assert.deepEqual(await noticesOf(id), ["100", "100"]);
  });

  test("under concurrent batches is noticed once each, and pauses once", async () => {
    const id = await subscribe();
    await limited(id, 1_020, "pause");
    const batches = await Promise.all(Array.from({ length: 15 }, () => report(id, 1)));
    const accepted = batches.filter(({ results: [result] }) => result?.status === "accepted").length;
    // 12 notes cost 1,020. The others came after the pause, or had occurred before it and were refused.
    assert.equal(accepted, 12);
    assert.deepEqual(await noticesOf(id), ["80", "100"]);
    assert.equal(await pausesOf(id), 1);
    assert.equal((await read(id)).pauseReason, "SPEND_LIMIT");
  });

  test("pauses are noticed each, also those of a limit that only begins to pause, or after usage was taken back", async () => {
    const id = await subscribe();
    await report(id, 100);
    await limited(id, 1_000, "notify");
    await limited(id, 1_000, "pause");
    assert.equal((await read(id)).pauseReason, "SPEND_LIMIT");
    assert.deepEqual(await noticesOf(id), ["100", "100"]);
    const [record] = await query<{ record_id: string; occurred_at: Date }>(
      "select record_id, occurred_at from usage_records where subscription_id = $1 and quantity = 100",
      id,
    );
    const records = [{ id: record?.record_id, occurredAt: record?.occurred_at.toISOString(), void: true }];
    await json(marketplace.requestAs("northwind-developer", `/subscriptions/${id}/usage`, { body: { records } }));
    await json(resume(id));
    await report(id, 100);
    assert.equal((await read(id)).pauseReason, "SPEND_LIMIT");
    assert.deepEqual(await noticesOf(id), ["100", "100", "paused"]);
  });

  test("is not for the vendor to read", async () => {
    const id = await subscribe();
    await limited(id, 1_000, "notify");
    const estimated = await json<EstimateDto>(
      marketplace.requestAs("northwind-developer", `/subscriptions/${id}/estimate`),
    );
    assert.equal(estimated.spendLimit, null);
  });

  test("doesn't hinder resuming once the month is over", async () => {
    const id = await subscribe();
    await report(id, 100);
    await limited(id, 1_000, "pause");
    const connected = await connectAsService<DB>(cleanUp, marketplace.database.serviceUrl);
    const caller = {
      issuer: "https://idp.example",
      subject: "admin",
      roles: new Set(),
      organisations: new Map([["riverside-clinic", new Set(["org-admin"])]]),
      vendors: new Set(),
      ignoredRoleReasons: [],
    } as unknown as RequestContext["caller"];
    const bodyDigest = createKeyedDigest(parseEncryptionKeys(developmentEncryptionKeys), "idempotency");
    const resumeAt = (at: Date): Promise<SubscriptionDto> => {
      const request = { key: undefined, method: "POST", path: "", body: undefined };
      const deps = { ...connected, bodyDigest, usageLimits: highUsageLimits, clock: () => at };
      return changeSubscription(deps, { caller, requestId: "test" }, id, { do: "resume" }, request);
    };
    const now = new Date();
    await assert.rejects(resumeAt(now), /its limit is 10\.00 USD/);
    const { status } = await resumeAt(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)));
    assert.equal(status, "active");
  });

  test("below what the month has cost needs a confirmation, and acts at once then", async () => {
    const id = await subscribe();
    await report(id, 100);
    const { total } = await estimate(id);
    const refused = await limit(id, { amount: 1_000, onReached: "pause" });
    const { detail } = await assertProblem(refused, 409, "limit-below-cost");
    assert.match(String(detail), new RegExp(`has cost ${(Number(total) / 100).toFixed(2)} USD so far`));
    assert.equal((await estimate(id)).spendLimit?.isDefault, true);
    assert.equal((await limit(id, { amount: Number(total), onReached: "notify" })).status, 200, "exactly as much");
    await query("delete from notices");
    await limited(id, 1_000, "pause");
    assert.equal((await read(id)).pauseReason, "SPEND_LIMIT");
    assert.deepEqual(await noticesOf(id), ["100"]);
  });

  test("is checked daily, because a day costs something without usage", async () => {
    const connected = await connectAsService<DB>(cleanUp, marketplace.database.serviceUrl);
    const { id } = await subscribed(marketplace, "northwind-scribe", {
      orgAlias: "hilltop-family-practice",
      by: "operator",
    });
    // Its trial is over.
    await query("alter table subscriptions disable trigger user");
    await query("update subscriptions set trial_ends_at = null where id = $1", id);
    await query("alter table subscriptions enable trigger user");
    const spent = Number(
      (await json<EstimateDto>(marketplace.requestAs("operator", `/subscriptions/${id}/estimate`))).total,
    );
    assert.ok(spent > 0);
    const body = { amount: spent + 1, onReached: "pause" };
    await json(marketplace.requestAs("operator", `/subscriptions/${id}/spend-limit`, { method: "PUT", body }));
    const check = (clock: () => Date): Promise<void> =>
      checkSpendLimits({ ...connected, clock, stopped: new AbortController().signal });
    await check(() => new Date());
    const state = async (): Promise<string> =>
      (await json<SubscriptionDto>(marketplace.requestAs("operator", `/subscriptions/${id}`))).status;
    assert.equal(await state(), "active");
    // A day of the next month that is later in it than today is in this one.
    const later = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 2, 0));
    for (let runs = 0; runs < 2; runs += 1) await check(() => later);
    assert.equal(await state(), "paused");
    assert.equal(await pausesOf(id), 1);
  });

  test("cancelling out of its pause leaves no block", async () => {
    const id = await subscribe();
    await report(id, 100);
    await limited(id, 1_000, "pause");
    await subscribe();
  });

  test("is no reason that a caller can give, and none for a cancelled subscription", async () => {
    const id = await subscribe();
    const pause = { body: { reason: "SPEND_LIMIT" } };
    await assertProblem(
      await marketplace.requestAs("operator", `/subscriptions/${id}/pause`, pause),
      400,
      "invalid-request",
    );
    for (const amount of [0, -1, 1.5, 2 ** 53])
      await assertProblem(await limit(id, { amount, onReached: "notify" }), 400, "invalid-request");
    await marketplace.requestAs("operator", `/subscriptions/${id}/cancel`, { method: "POST" });
    await assertProblem(await limit(id, { amount: 1, onReached: "notify" }), 409, "subscription-cancelled");
  });
});
