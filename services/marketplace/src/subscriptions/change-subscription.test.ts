import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type AppDto, pauseReasons, type SubscriptionDto, type SubscriptionEvent } from "@ehr-marketplace/contracts";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem, assertShape } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { subscribed } from "./subscribe.test-support.ts";

type Persona = Parameters<MarketplaceWithCallers["requestAs"]>[0];
type Reason = (typeof pauseReasons)[number];

describe("changing a subscription", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let apps: string[];
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    const page = (await (await marketplace.get("/apps?size=100")).json()) as { content: AppDto[] };
    apps = page.content.map(({ slug }) => slug);
  });
  const rows = async <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  const fresh = async (): Promise<SubscriptionDto> => subscribed(marketplace, String(apps.pop()));
  const command = (who: Persona, id: string, what: string, reason?: string): Promise<Response> =>
    marketplace.requestAs(who, `/subscriptions/${id}/${what}`, {
      method: "POST",
      ...(reason === undefined ? {} : { body: { reason } }),
    });
  const done = async (who: Persona, id: string, what: string, reason?: string): Promise<SubscriptionDto> => {
    const response = await command(who, id, what, reason);
    assert.equal(response.status, 200, await response.clone().text());
    const record = (await response.json()) as SubscriptionDto;
    assertShape("SubscriptionDto", record);
    return record;
  };
  const pausedFor = async (reason: Reason): Promise<SubscriptionDto> =>
    done("operator", (await fresh()).id, "pause", reason);
  const leftBy = async (id: string): Promise<{ events: number; audited: number } | undefined> => {
    const [left] = await rows<{ events: number; audited: number }>(
      `select (select count(*)::int from events where subscription_id::text = $1) as events,
        (select count(*)::int from audit_entries where target_id = $1) as audited`,
      id,
    );
    return left;
  };

  test("each change updates the record and creates an event; a repeated command does neither", async () => {
    const created = await fresh();
    const { id } = created;
    const paused = await done("billing", id, "pause", "NON_PAYMENT");
    assert.deepEqual(paused, {
      ...created,
      status: "paused",
      pauseReason: "NON_PAYMENT",
      pausedAt: paused.updatedAt,
      updatedAt: paused.updatedAt,
    });
    assert.deepEqual(await done("operator", id, "pause", "NON_PAYMENT"), paused);
    const resumed = await done("billing", id, "resume");
    assert.deepEqual(resumed, { ...created, updatedAt: resumed.updatedAt });
    assert.deepEqual(await done("riverside-admin", id, "resume"), resumed);
    const resting = await done("riverside-admin", id, "pause", "ORG_REQUEST");
    const cancelled = await done("riverside-admin", id, "cancel");
    const { updatedAt } = cancelled;
    assert.deepEqual(cancelled, { ...created, status: "cancelled", cancelledAt: updatedAt, updatedAt });
    assert.deepEqual(await done("operator", id, "cancel"), cancelled);
    const found = await marketplace.requestAs("riverside-member", `/subscriptions/${id}`);
    assert.deepEqual(await found.json(), cancelled);

    const events = await rows<{ event: string; payload: string; occurred_at: Date }>(
      "select event, payload, occurred_at from events where subscription_id = $1 order by sequence",
      id,
    );
    const payloads = events.map(({ payload }) => JSON.parse(payload) as SubscriptionEvent);
    for (const payload of payloads) assertShape("SubscriptionEvent", payload);
    const orgAlias = "riverside-clinic";
    assert.deepEqual(
      payloads.map(({ event, subscription, timestamp }) => [event, subscription, timestamp]),
      [
        ["subscription.created", { id, status: "active", orgAlias }, created.createdAt],
        ["subscription.paused", { id, status: "paused", orgAlias, pauseReason: "NON_PAYMENT" }, paused.updatedAt],
        ["subscription.resumed", { id, status: "active", orgAlias }, resumed.updatedAt],
        ["subscription.paused", { id, status: "paused", orgAlias, pauseReason: "ORG_REQUEST" }, resting.updatedAt],
        ["subscription.cancelled", { id, status: "cancelled", orgAlias }, updatedAt],
      ],
    );
    for (const [index, { event, timestamp }] of payloads.entries()) {
      assert.deepEqual([events[index]?.event, events[index]?.occurred_at.toISOString()], [event, timestamp]);
    }
    assert.deepEqual(await leftBy(id), { events: 5, audited: 5 });
  });

  test("returns 409 for a command that the state doesn't allow, and changes nothing", async () => {
    const paused = await pausedFor("SECURITY");
    const cancelled = await done("operator", (await fresh()).id, "cancel");
    const live = await fresh();
    const had = await Promise.all([paused, cancelled, live].map(({ id }) => leftBy(id)));
    for (const reason of pauseReasons.filter((each) => each !== "SECURITY")) {
      const problem = await assertProblem(
        await command("operator", paused.id, "pause", reason),
        409,
        "paused-for-another-reason",
      );
      assert.equal(problem["detail"], `Subscription ${paused.id} is paused for SECURITY.`);
    }
    for (const reason of pauseReasons) {
      const response = await command("operator", cancelled.id, "pause", reason);
      await assertProblem(response, 409, "subscription-cancelled");
    }
    await assertProblem(await command("riverside-admin", cancelled.id, "resume"), 409, "subscription-cancelled");
    for (const { id } of [paused, live]) {
      await assertProblem(await command("billing", id, "lift-block"), 409, "subscription-not-cancelled");
    }
    assert.deepEqual(await Promise.all([paused, cancelled, live].map(({ id }) => leftBy(id))), had);
  });

  const everyone = [
    "operator",
    "billing",
    "riverside-admin",
    "two-practices",
    "hilltop-admin",
    "riverside-member",
    "ehr-service",
    "northwind-developer",
    "launch-redeemer",
    null,
  ] as const;
  const others = [404, 403, 403, 403, 403, 401];
  const whoDecides: Record<Reason, number[]> = {
    NON_PAYMENT: [200, 200, 403, 403, ...others],
    OPERATOR_HOLD: [200, 403, 403, 403, ...others],
    SECURITY: [200, 403, 403, 403, ...others],
    ORG_REQUEST: [200, 403, 200, 200, ...others],
  };
  for (const reason of pauseReasons) {
    test(`${reason}: the roles that may set it may lift it, and no others`, async () => {
      const { id } = await fresh();
      const [set, lifted]: [number[], number[]] = [[], []];
      for (const who of everyone) {
        const response = await command(who, id, "pause", reason);
        set.push(response.status);
        if (response.status === 200) await done("operator", id, "resume");
      }
      await done("operator", id, "pause", reason);
      for (const who of everyone) {
        const response = await command(who, id, "resume");
        lifted.push(response.status);
        if (response.status === 200) await done("operator", id, "pause", reason);
      }
      assert.deepEqual([set, lifted], [whoDecides[reason], whoDecides[reason]]);
    });
  }

  test("only the organisation's admins and operators may cancel, for any pause reason", async () => {
    for (const [index, who] of everyone.entries()) {
      const { id } = await (index % 2 === 0 ? fresh() : pausedFor("SECURITY"));
      const { status } = await command(who, id, "cancel");
      assert.equal(status, [200, 403, 200, 200, ...others][index], String(who));
    }
  });

  test("returns 403 that names the role to members of the organisation, and 404 to others", async () => {
    const hilltop = { by: "hilltop-admin", orgAlias: "hilltop-family-practice" } as const;
    const { id } = await subscribed(marketplace, String(apps.at(-1)), hilltop);
    const forMember = await assertProblem(await command("two-practices", id, "cancel"), 403, "forbidden");
    assert.match(String(forMember["detail"]), /org-admin or operator/);
    const missing = "01890a5d-ac96-774b-bcce-b302099a8057";
    const [strange, absent] = [
      await command("riverside-admin", id, "cancel"),
      await command("operator", missing, "cancel"),
    ];
    assert.equal(
      (await assertProblem(strange, 404, "subscription-not-found"))["detail"],
      (await assertProblem(absent, 404, "subscription-not-found"))["detail"],
    );
  });

  test("subscriptions to a withdrawn app can still be changed", async () => {
    const { id, appId } = await fresh();
    await rows("update apps set status = 'withdrawn', name = 'Gone' where id = $1", appId);
    await done("riverside-admin", id, "pause", "ORG_REQUEST");
    await done("riverside-admin", id, "cancel");
    const names = await rows<{ name: string }>(
      "select payload::json->'app'->>'name' as name from events where subscription_id = $1 order by sequence",
      id,
    );
    assert.notEqual(names[0]?.name, "Gone");
    assert.deepEqual(names.slice(1), [{ name: "Gone" }, { name: "Gone" }]);
  });

  test("returns 400 for a missing or unknown reason, extra fields, or an invalid id", async () => {
    const { id } = await fresh();
    for (const body of [{}, { reason: "BORED" }, { reason: "security" }, { reason: null }, { reason: ["SECURITY"] }]) {
      const response = await marketplace.requestAs("operator", `/subscriptions/${id}/pause`, { body });
      await assertProblem(response, 400, "invalid-request");
    }
    const more = { body: { reason: "SECURITY", until: "tomorrow" } };
    await assertProblem(
      await marketplace.requestAs("operator", `/subscriptions/${id}/pause`, more),
      400,
      "invalid-request",
    );
    await assertProblem(await command("operator", id, "pause"), 400, "invalid-request");
    await assertProblem(await command("operator", "1", "cancel"), 400, "invalid-request");
  });

  test("an id in another spelling doesn't cause a 5xx", async () => {
    const { id } = await fresh();
    assert.equal((await command("operator", id.toUpperCase(), "cancel")).status, 200);
    for (const what of ["cancel", "resume", "lift-block"]) {
      const { status } = await command("operator", `urn:uuid:${id}`, what);
      assert.ok([400, 404].includes(status), `${what}: ${status}`);
    }
  });
});
