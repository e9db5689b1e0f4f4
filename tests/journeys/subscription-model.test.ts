import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SubscriptionDto, SubscriptionEvent } from "@ehr-marketplace/contracts";
import { cleanUpAfter, rounds, withClient } from "@ehr-marketplace/test-kit";
import { assertShape } from "@ehr-marketplace/test-kit/contract";
import { sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import fc from "fast-check";

/** The callers of commands; the admin belongs to the organisation. */
const callerNames = ["admin", "billing", "operator"] as const;
const reasons = ["NON_PAYMENT", "OPERATOR_HOLD", "SECURITY", "ORG_REQUEST"] as const;
type CallerName = (typeof callerNames)[number];
type Reason = (typeof reasons)[number];

const by = fc.constantFrom(...callerNames);
const commands = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant("create" as const), by }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("cancel" as const), by, last: fc.boolean() }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant("pause" as const),
        by,
        last: fc.boolean(),
        reason: fc.constantFrom(...reasons),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("resume" as const), by, last: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("lift-block" as const), by, last: fc.boolean() }) },
  ),
  { minLength: 1, maxLength: 25 },
);
type Command = typeof commands extends fc.Arbitrary<(infer C)[]> ? C : never;

interface ModelSubscription {
  id: string;
  status: "active" | "paused" | "cancelled";
  reason: Reason | null;
  blocks: Reason | null;
  events: string[];
}

/** A second implementation of the rules, independent of the service's table of transitions. */
class Model {
  readonly all: ModelSubscription[] = [];

  expect(command: Command, target: ModelSubscription | undefined): number {
    if (command.do === "create") {
      if (command.by === "billing") return 403;
      return this.all.some((each) => each.status !== "cancelled" || each.blocks !== null) ? 409 : 201;
    }
    const mayDecide = (reason: Reason): boolean =>
      command.by === "operator" ||
      command.by === (reason === "NON_PAYMENT" ? "billing" : "") ||
      (reason === "ORG_REQUEST" && command.by === "admin");
    if (command.do === "cancel" && command.by === "billing") return 403;
    if (command.do === "lift-block" && command.by === "admin") return 403;
    if (target === undefined) return 404;
    if (command.do === "pause" && !mayDecide(command.reason)) return 403;
    switch (command.do) {
      case "cancel":
        if (target.status !== "cancelled") {
          target.blocks = target.reason === "ORG_REQUEST" ? null : target.reason;
          this.#transition(target, "cancelled", null, "subscription.cancelled");
        }
        return 200;
      case "pause":
        if (target.status === "cancelled") return 409;
        if (target.status === "paused") return target.reason === command.reason ? 200 : 409;
        this.#transition(target, "paused", command.reason, "subscription.paused");
        return 200;
      case "resume":
        if (target.reason !== null && !mayDecide(target.reason)) return 403;
        if (target.status === "cancelled") return 409;
        if (target.status === "paused") this.#transition(target, "active", null, "subscription.resumed");
        return 200;
      case "lift-block":
        if (target.blocks !== null && !mayDecide(target.blocks)) return 403;
        if (target.status !== "cancelled") return 409;
        target.blocks = null;
        return 200;
    }
  }

  #transition(
    target: ModelSubscription,
    status: ModelSubscription["status"],
    reason: Reason | null,
    event: string,
  ): void {
    Object.assign(target, { status, reason });
    target.events.push(event);
  }
}

describe("the state machine over HTTP, checked against a model", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  let plan: { id: string };
  let organisations = 0;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
    const [first] = await marketplace.plans("northwind-scribe");
    plan = first ?? assert.fail("northwind-scribe has no plan");
  });

  const newOrganisation = async (): Promise<{ alias: string; tokens: Record<CallerName, string> }> => {
    organisations += 1;
    const alias = `model-clinic-${organisations}`;
    const options = { method: "PUT", body: { displayName: alias } };
    assert.equal((await marketplace.requestAs("operator", `/admin/organisations/${alias}`, options)).status, 201);
    const admin = await signToken(marketplace.callers, { organization: { [alias]: { roles: ["org-admin"] } } });
    const { callers } = marketplace;
    return { alias, tokens: { admin, billing: callers.token("billing"), operator: callers.token("operator") } };
  };

  test("every response, record and event matches the model over random sequences of commands", async () => {
    const matchesModel = fc.asyncProperty(commands, async (given) => {
      const { alias, tokens } = await newOrganisation();
      const model = new Model();
      for (const command of given) {
        const target = command.do === "create" ? undefined : command.last ? model.all.at(-1) : model.all[0];
        const id = target?.id ?? "0190a3b0-0000-7000-8000-000000000000";
        const expected = model.expect(command, target);
        const path = command.do === "create" ? "/subscriptions" : `/subscriptions/${id}/${command.do}`;
        const creation = { appSlug: "northwind-scribe", orgAlias: alias, pricingPlanId: plan.id };
        const body =
          command.do === "create" ? creation : command.do === "pause" ? { reason: command.reason } : undefined;
        const options = { method: "POST", ...(body === undefined ? {} : { body }) };
        const response = await sendApiRequest(marketplace.url, path, tokens[command.by], options);
        assert.equal(response.status, expected, `${JSON.stringify(command)}: ${await response.clone().text()}`);
        if (response.status >= 300) continue;
        const record = (await response.json()) as SubscriptionDto;
        assertShape("SubscriptionDto", record);
        if (command.do === "create") {
          const created: ModelSubscription = {
            id: record.id,
            status: "active",
            reason: null,
            blocks: null,
            events: [],
          };
          created.events.push("subscription.created");
          assert.equal(record.trialEndsAt !== null, model.all.length === 0, "only the first has a trial");
          model.all.push(created);
        }
        const expectedRecord = model.all.find((each) => each.id === record.id);
        assert.deepEqual([record.status, record.pauseReason], [expectedRecord?.status, expectedRecord?.reason]);
      }
      await assertEvents(model);
    });
    await fc.assert(matchesModel, { numRuns: rounds(60, 1_000) });
  });

  async function assertEvents(model: Model): Promise<void> {
    for (const { id, events, status } of model.all) {
      const payloads = await withClient(marketplace.database.serviceUrl, async (client) => {
        const { rows } = await client.query<{ payload: string }>(
          "select payload from events where subscription_id = $1 order by sequence",
          [id],
        );
        return rows.map(({ payload }) => JSON.parse(payload) as SubscriptionEvent);
      });
      for (const payload of payloads) assertShape("SubscriptionEvent", payload);
      assert.deepEqual(
        payloads.map(({ event }) => event),
        events,
      );
      assert.equal(payloads.at(-1)?.subscription.status, status);
      const times = payloads.map(({ timestamp }) => timestamp);
      assert.deepEqual(times, [...new Set(times)].toSorted(), "timestamps strictly increase");
    }
  }
});
