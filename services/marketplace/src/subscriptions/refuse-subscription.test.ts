import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { planOf, subscribe, subscribed } from "./subscribe.test-support.ts";

const unknownPlan = "01890a5d-ac96-774b-bcce-b302099a8057";

describe("a subscription that is refused", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let good: Record<string, unknown>;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    const pricingPlanId = await planOf(marketplace, "lumen-schedule");
    good = { appSlug: "lumen-schedule", orgAlias: "riverside-clinic", pricingPlanId };
  });
  const asOwner = async <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  const post = (
    body: unknown,
    who: Parameters<MarketplaceWithCallers["requestAs"]>[0] = "riverside-admin",
  ): Promise<Response> =>
    marketplace.requestAs(who, "/subscriptions", { body, headers: { "idempotency-key": "refused" } });

  test("returns 409 when the organisation is already subscribed, with any plan, paused or not", async () => {
    const first = await subscribed(marketplace, "northwind-scribe");
    const refuses = async (status: string): Promise<void> => {
      for (const model of ["FLAT", "PER_UNIT", "USAGE"]) {
        const headers = { "idempotency-key": model };
        const response = await subscribe(marketplace, "northwind-scribe", { model, headers });
        const problem = await assertProblem(response, 409, "already-subscribed");
        assert.equal(problem["detail"], `Subscription ${first.id} is ${status}.`);
      }
    };
    await refuses("active");
    const pause = { body: { reason: "ORG_REQUEST" } };
    assert.equal(
      (await marketplace.requestAs("riverside-admin", `/subscriptions/${first.id}/pause`, pause)).status,
      200,
    );
    await refuses("paused");
  });

  const unusable: [string, Record<string, unknown> | (() => Promise<Record<string, unknown>>), string, string][] = [
    ["no such app", { appSlug: "no-such-app" }, "unknown-app", "appSlug"],
    ["an app in capitals", { appSlug: "Lumen-Schedule" }, "unknown-app", "appSlug"],
    ["no slug at all", { appSlug: "" }, "unknown-app", "appSlug"],
    ["a slug with SQL in it", { appSlug: "' or 1=1 --" }, "unknown-app", "appSlug"],
    ["no such plan", { pricingPlanId: unknownPlan }, "unknown-plan", "pricingPlanId"],
    [
      "the plan of another app",
      async () => ({ pricingPlanId: await planOf(marketplace, "inbox-heron") }),
      "unknown-plan",
      "pricingPlanId",
    ],
    [
      "a withdrawn app",
      async () => {
        const pricingPlanId = await planOf(marketplace, "lab-lantern");
        await asOwner("update apps set status = 'withdrawn' where slug = 'lab-lantern'");
        return { appSlug: "lab-lantern", pricingPlanId };
      },
      "unknown-app",
      "appSlug",
    ],
    [
      "a draft of an app",
      async () => {
        const pricingPlanId = await planOf(marketplace, "cuffline");
        await asOwner("update apps set status = 'draft' where slug = 'cuffline'");
        return { appSlug: "cuffline", pricingPlanId };
      },
      "unknown-app",
      "appSlug",
    ],
    [
      "a retired plan",
      async () => {
        const pricingPlanId = await planOf(marketplace, "vitals-dock");
        await asOwner("update pricing_plans set retired_at = now() where id = $1", pricingPlanId);
        return { appSlug: "vitals-dock", pricingPlanId };
      },
      "unknown-plan",
      "pricingPlanId",
    ],
    [
      "a plan that is not published yet",
      async () => {
        const [plan] = await asOwner<{ id: string }>(`
          insert into pricing_plans (id, app_id, position, name, description, pricing_model, currency, amount)
          select gen_random_uuid(), id, 9, 'Soon', '', 'FREE', 'USD', 0 from apps where slug = 'lumen-schedule'
          returning id`);
        return { pricingPlanId: plan?.id };
      },
      "unknown-plan",
      "pricingPlanId",
    ],
    ["an unregistered organisation", { orgAlias: "nobody" }, "unknown-organisation", "orgAlias"],
    ["an organisation in capitals", { orgAlias: "RIVERSIDE-CLINIC" }, "unknown-organisation", "orgAlias"],
    ["no organisation at all", { orgAlias: "" }, "unknown-organisation", "orgAlias"],
  ];
  for (const [what, given, code, field] of unusable) {
    test(`422: ${what}`, async () => {
      const changed = typeof given === "function" ? await given() : given;
      const problem = await assertProblem(await post({ ...good, ...changed }, "operator"), 422, code);
      assert.deepEqual(
        (problem["errors"] as { pointer: string }[]).map(({ pointer }) => pointer),
        [`/body/${field}`],
      );
    });
  }

  test("a plan's id in another spelling doesn't cause a 5xx", async () => {
    assert.equal((await post({ ...good, pricingPlanId: unknownPlan.toUpperCase() })).status, 422);
    const { status } = await post({ ...good, pricingPlanId: `urn:uuid:${String(good["pricingPlanId"])}` });
    assert.ok([400, 422].includes(status), String(status));
  });

  const invalid: [string, Record<string, unknown>, string][] = [
    ...["appSlug", "orgAlias", "pricingPlanId"].flatMap((field): [string, Record<string, unknown>, string][] => [
      [`no ${field}`, { [field]: undefined }, `/body/${field}`],
      [`null as ${field}`, { [field]: null }, `/body/${field}`],
      [`a number as ${field}`, { [field]: 7 }, `/body/${field}`],
      [`a list as ${field}`, { [field]: ["x"] }, `/body/${field}`],
      [`a NUL in ${field}`, { [field]: "a\0b" }, `/body/${field}`],
    ]),
    ["a slug that is too long", { appSlug: "a".repeat(65) }, "/body/appSlug"],
    ["an alias that is too long", { orgAlias: "a".repeat(65) }, "/body/orgAlias"],
    ["an invalid plan id", { pricingPlanId: "the cheap one" }, "/body/pricingPlanId"],
    ["an unknown field", { status: "active" }, "/body/status"],
    ["a NUL in the name of a field", { "a\0b": 1 }, "/body"],
    ...[0, -1, 1.5, "3", 2_147_483_648, 1e300, true, [1]].map((quantity): [string, Record<string, unknown>, string] => [
      `${JSON.stringify(quantity)} as quantity`,
      { quantity },
      "/body/quantity",
    ]),
  ];
  for (const [what, changed, pointer] of invalid) {
    test(`400: ${what}`, async () => {
      const problem = await assertProblem(await post({ ...good, ...changed }), 400, "invalid-request");
      const pointers = (problem["errors"] as { pointer: string }[]).map((each) => each.pointer);
      assert.ok(pointers.includes(pointer), pointers.join(", "));
    });
  }

  for (const [what, body] of [
    ["not JSON", "{"],
    ["a list", "[]"],
    ["null", "null"],
    ["nothing", ""],
    ["a prototype", '{"__proto__":{"orgAlias":"riverside-clinic"}}'],
  ] as const) {
    test(`400: a body that is ${what}`, async () => {
      const headers = { authorization: `Bearer ${marketplace.callers.token("riverside-admin")}` };
      const response = await fetch(`${marketplace.url}/api/v1/subscriptions`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body,
      });
      await assertProblem(response, 400, "invalid-request");
    });
  }

  test("returns 401 without a token, and 403 for everyone but the organisation's admins", async () => {
    await assertProblem(await post(good, null), 401, "unauthorized");
    for (const who of ["hilltop-admin", "riverside-member", "billing", "ehr-service", "lumen-developer"] as const) {
      await assertProblem(await post(good, who), 403, "forbidden");
    }
    const asMember = { ...good, orgAlias: "hilltop-family-practice" };
    await assertProblem(await post(asMember, "two-practices"), 403, "forbidden");
  });

  test("returns the same 403 whether or not the organisation, the app and the plan exist", async () => {
    const details = await Promise.all(
      [
        { orgAlias: "hilltop-family-practice" },
        { orgAlias: "nobody" },
        { orgAlias: "__proto__" },
        { orgAlias: "nobody", appSlug: "no-such-app" },
        { orgAlias: "hilltop-family-practice", pricingPlanId: unknownPlan },
      ].map(async (given) => {
        const { detail } = await assertProblem(await post({ ...good, ...given }), 403, "forbidden");
        return String(detail).replace(JSON.stringify(given.orgAlias), "it");
      }),
    );
    assert.equal(new Set(details).size, 1);
  });

  test("stores nothing for refused requests", async () => {
    const [left] = await asOwner(`select (select count(*)::int from subscriptions) as subscriptions,
      (select array_agg(event order by sequence) from events where subscription_id is not null) as events,
      (select count(*)::int from audit_entries where target_kind = 'subscription') as audited, (select count(*)::int from idempotent_responses) as stored`);
    const events = ["subscription.created", "subscription.paused"];
    assert.deepEqual(left, { subscriptions: 1, events, audited: 2, stored: 0 });
  });
});
