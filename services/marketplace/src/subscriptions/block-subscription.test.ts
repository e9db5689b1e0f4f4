import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { subscribe, subscribed } from "./subscribe.test-support.ts";

type Persona = Parameters<MarketplaceWithCallers["requestAs"]>[0];

describe("cancelling out of a pause", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const command = (who: Persona, id: string, what: string, reason?: string): Promise<Response> =>
    marketplace.requestAs(who, `/subscriptions/${id}/${what}`, {
      method: "POST",
      ...(reason === undefined ? {} : { body: { reason } }),
    });
  const cancelledOutOf = async (reason: string, slug: string): Promise<SubscriptionDto> => {
    const { id } = await subscribed(marketplace, slug);
    assert.equal((await command("operator", id, "pause", reason)).status, 200);
    const response = await command("riverside-admin", id, "cancel");
    assert.equal(response.status, 200);
    return (await response.json()) as SubscriptionDto;
  };

  for (const [reason, slug, mayLift, mayNot] of [
    ["NON_PAYMENT", "lumen-schedule", ["operator", "billing"], []],
    ["OPERATOR_HOLD", "inbox-heron", ["operator"], ["billing"]],
    ["SECURITY", "lab-lantern", ["operator"], ["billing"]],
  ] as const) {
    test(`for ${reason} blocks the app until ${mayLift.join(" or ")} lifts the block`, async () => {
      for (const lifter of mayLift) {
        const cancelled = await cancelledOutOf(reason, slug);
        for (const by of ["riverside-admin", "operator"] as const) {
          const problem = await assertProblem(await subscribe(marketplace, slug, { by }), 409, "subscription-blocked");
          assert.equal(
            problem["detail"],
            `Subscription ${cancelled.id} was cancelled while it was paused for ${reason}. A caller with the role ${mayLift.join(" or ")} lifts the block with POST /subscriptions/${cancelled.id}/lift-block.`,
          );
        }
        for (const who of [...mayNot, "riverside-admin", "riverside-member", "hilltop-admin"] as const) {
          await assertProblem(await command(who, cancelled.id, "lift-block"), 403, "forbidden");
        }
        const lifted = await command(lifter, cancelled.id, "lift-block");
        assert.equal(lifted.status, 200);
        const { updatedAt, ...record } = (await lifted.json()) as SubscriptionDto;
        const { updatedAt: last, ...same } = cancelled;
        assert.deepEqual(record, same);
        assert.ok(updatedAt > last);
        const again = await command("billing", cancelled.id, "lift-block");
        assert.deepEqual([again.status, await again.json()], [200, { ...record, updatedAt }]);
        assert.equal((await command("operator", (await subscribed(marketplace, slug)).id, "cancel")).status, 200);
      }
    });
  }

  test("for ORG_REQUEST blocks nothing", async () => {
    await cancelledOutOf("ORG_REQUEST", "cuffline");
    await subscribed(marketplace, "cuffline");
  });

  test("blocks that organisation and that app, and nothing else", async () => {
    await cancelledOutOf("SECURITY", "vitals-dock");
    await subscribed(marketplace, "vitals-dock", { by: "hilltop-admin", orgAlias: "hilltop-family-practice" });
    await subscribed(marketplace, "bellows-spirometry");
  });

  test("lifting a block records an audit entry and no event; cancelling out of the next pause blocks again", async () => {
    const { id } = await cancelledOutOf("NON_PAYMENT", "quiet-room");
    await command("billing", id, "lift-block");
    const [left] = await withClient(
      marketplace.database.ownerUrl,
      async (client) =>
        (
          await client.query(
            `select (select array_agg(event order by sequence) from events where subscription_id = $1) as events,
              (select array_agg(action || ' ' || actor_role order by at) from audit_entries where target_id = $1::text) as deeds`,
            [id],
          )
        ).rows as unknown[],
    );
    assert.deepEqual(left, {
      events: ["subscription.created", "subscription.paused", "subscription.cancelled"],
      deeds: [
        "subscription.create org-admin",
        "subscription.pause operator",
        "subscription.cancel org-admin",
        "subscription.lift-block billing",
      ],
    });
    await cancelledOutOf("NON_PAYMENT", "quiet-room");
    await assertProblem(await subscribe(marketplace, "quiet-room"), 409, "subscription-blocked");
  });

  test("a subscription that is created during the cancellation is blocked, too", async () => {
    for (const slug of ["renal-rudder", "loose-ends", "click-census", "path-postcards"]) {
      const { id } = await subscribed(marketplace, slug);
      await command("operator", id, "pause", "SECURITY");
      const responses = await Promise.all([
        subscribe(marketplace, slug),
        command("riverside-admin", id, "cancel"),
        subscribe(marketplace, slug),
        subscribe(marketplace, slug, { by: "operator" }),
      ]);
      assert.deepEqual(
        responses.map(({ status }) => status),
        [409, 200, 409, 409],
      );
      await assertProblem(await subscribe(marketplace, slug), 409, "subscription-blocked");
    }
  });
});
