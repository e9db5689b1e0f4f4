import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SubscriptionDto, SubscriptionEvent } from "@ehr-marketplace/contracts";
import { withClient } from "@ehr-marketplace/dev/postgres";
import {
  ask,
  assertShape,
  cleanUpAfter,
  type PeopledMarketplace,
  rounds,
  signedToken,
  startPeopledMarketplace,
} from "@ehr-marketplace/tests/support";
import fc from "fast-check";

/** Who commands; the admin is the organisation's own. */
const people = ["admin", "billing", "operator"] as const;
const reasons = ["NON_PAYMENT", "OPERATOR_HOLD", "SECURITY", "ORG_REQUEST"] as const;
type Person = (typeof people)[number];
type Reason = (typeof reasons)[number];

const by = fc.constantFrom(...people);
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
type Given = typeof commands extends fc.Arbitrary<(infer C)[]> ? C : never;

interface Modelled {
  id: string;
  status: "active" | "paused" | "cancelled";
  reason: Reason | null;
  blocks: Reason | null;
  events: string[];
}

/** The rules once more, told as a story instead of a table, and without a look at the code. */
class Model {
  readonly all: Modelled[] = [];

  expect(command: Given, target: Modelled | undefined): number {
    if (command.do === "create") {
      if (command.by === "billing") return 403;
      return this.all.some((each) => each.status !== "cancelled" || each.blocks !== null) ? 409 : 201;
    }
    const decides = (reason: Reason): boolean =>
      command.by === "operator" ||
      command.by === (reason === "NON_PAYMENT" ? "billing" : "") ||
      (reason === "ORG_REQUEST" && command.by === "admin");
    if (command.do === "cancel" && command.by === "billing") return 403;
    if (command.do === "lift-block" && command.by === "admin") return 403;
    if (target === undefined) return 404;
    if (command.do === "pause" && !decides(command.reason)) return 403;
    switch (command.do) {
      case "cancel":
        if (target.status !== "cancelled") {
          target.blocks = target.reason === "ORG_REQUEST" ? null : target.reason;
          this.#become(target, "cancelled", null, "subscription.cancelled");
        }
        return 200;
      case "pause":
        if (target.status === "cancelled") return 409;
        if (target.status === "paused") return target.reason === command.reason ? 200 : 409;
        this.#become(target, "paused", command.reason, "subscription.paused");
        return 200;
      case "resume":
        if (target.reason !== null && !decides(target.reason)) return 403;
        if (target.status === "cancelled") return 409;
        if (target.status === "paused") this.#become(target, "active", null, "subscription.resumed");
        return 200;
      case "lift-block":
        if (target.blocks !== null && !decides(target.blocks)) return 403;
        if (target.status !== "cancelled") return 409;
        target.blocks = null;
        return 200;
    }
  }

  #become(target: Modelled, status: Modelled["status"], reason: Reason | null, event: string): void {
    Object.assign(target, { status, reason });
    target.events.push(event);
  }
}

describe("the state machine over HTTP, held against a model", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: PeopledMarketplace;
  let plan: { id: string };
  let organisations = 0;
  before(async () => {
    marketplace = await startPeopledMarketplace(cleanUp);
    const [first] = await marketplace.plans("northwind-scribe");
    plan = first ?? assert.fail("northwind-scribe has no plan");
  });

  const newOrganisation = async (): Promise<{ alias: string; tokens: Record<Person, string> }> => {
    organisations += 1;
    const alias = `model-clinic-${organisations}`;
    const options = { method: "PUT", body: { displayName: alias } };
    assert.equal((await marketplace.as("operator", `/admin/organisations/${alias}`, options)).status, 201);
    const admin = await signedToken(marketplace.callers, { organization: { [alias]: { roles: ["org-admin"] } } });
    const { callers } = marketplace;
    return { alias, tokens: { admin, billing: callers.token("billing"), operator: callers.token("operator") } };
  };

  test("every answer, every record and every event is what the model says, over random lives", async () => {
    const life = fc.asyncProperty(commands, async (given) => {
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
        const asking = { method: "POST", ...(body === undefined ? {} : { body }) };
        const answer = await ask(marketplace.url, path, tokens[command.by], asking);
        assert.equal(answer.status, expected, `${JSON.stringify(command)}: ${await answer.clone().text()}`);
        if (answer.status >= 300) continue;
        const record = (await answer.json()) as SubscriptionDto;
        assertShape("SubscriptionDto", record);
        if (command.do === "create") {
          const created: Modelled = { id: record.id, status: "active", reason: null, blocks: null, events: [] };
          created.events.push("subscription.created");
          assert.equal(record.trialEndsAt !== null, model.all.length === 0, "only the first has a trial");
          model.all.push(created);
        }
        const modelled = model.all.find((each) => each.id === record.id);
        assert.deepEqual([record.status, record.pauseReason], [modelled?.status, modelled?.reason]);
      }
      await assertEvents(model);
    });
    await fc.assert(life, { numRuns: rounds(60, 1_000) });
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
