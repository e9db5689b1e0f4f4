import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { subscribed } from "./subscribe.test-support.ts";

const hourMs = 3_600_000;

describe("the times of one subscription's events", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const change = async (id: string, what: string, reason?: string): Promise<SubscriptionDto> => {
    const options = { method: "POST", ...(reason === undefined ? {} : { body: { reason } }) };
    const response = await marketplace.requestAs("operator", `/subscriptions/${id}/${what}`, options);
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as SubscriptionDto;
  };
  const asOwner = async <T>(statement: string, ...values: unknown[]): Promise<T[]> =>
    withClient(marketplace.database.ownerUrl, async (client) => (await client.query(statement, values)).rows as T[]);
  const eventsOf = (id: string): Promise<{ sequence: number; timestamp: string; event: string }[]> =>
    asOwner(
      `select sequence, event, payload::json->>'timestamp' as timestamp from events
       where subscription_id = $1 order by sequence`,
      id,
    );

  test("strictly increase when all changes are in the same millisecond", async (context) => {
    const { id, createdAt } = await subscribed(marketplace, "lumen-schedule");
    const now = Date.parse(createdAt) + hourMs / 2;
    context.mock.timers.enable({ apis: ["Date"], now });
    for (let round = 0; round < 10; round += 1) {
      await change(id, "pause", "SECURITY");
      await change(id, "resume");
    }
    const times = (await eventsOf(id)).map(({ timestamp }) => Date.parse(timestamp));
    assert.deepEqual(times, [Date.parse(createdAt), ...Array.from({ length: 20 }, (_, index) => now + index)]);
  });

  test("strictly increase with concurrent changes, in the order of the changes", async () => {
    const { id } = await subscribed(marketplace, "quiet-room");
    for (let round = 0; round < 10; round += 1) {
      const changes = [change(id, "pause", "SECURITY"), change(id, "resume"), change(id, "pause", "SECURITY")];
      await Promise.all([...changes, change(id, "resume")]);
    }
    const cancelled = await change(id, "cancel");
    const events = await eventsOf(id);
    assert.ok(events.length > 10, `only ${events.length} events`);
    assert.deepEqual(
      events.map(({ sequence }) => sequence),
      events.map((_, index) => index + 1),
    );
    for (const [index, { timestamp, event }] of events.entries()) {
      const last = events[index - 1];
      if (last === undefined) continue;
      assert.ok(timestamp > last.timestamp, `${timestamp} after ${last.timestamp}`);
      assert.notEqual(event, last.event);
    }
    assert.equal(events.at(-1)?.timestamp, cancelled.updatedAt);
  });

  test("strictly increase when this process's clock is behind that of the last writer", async () => {
    const { id } = await subscribed(marketplace, "inbox-heron");
    const ahead = new Date(Date.now() + hourMs);
    await asOwner("update subscriptions set updated_at = $2 where id = $1", id, ahead);
    const after = (ms: number): string => new Date(ahead.getTime() + ms).toISOString();
    const paused = await change(id, "pause", "NON_PAYMENT");
    assert.deepEqual([paused.updatedAt, paused.pausedAt], [after(1), after(1)]);
    assert.equal((await change(id, "resume")).updatedAt, after(2));
    await change(id, "pause", "NON_PAYMENT");
    const cancelled = await change(id, "cancel");
    assert.deepEqual([cancelled.updatedAt, cancelled.cancelledAt], [after(4), after(4)]);
    const lifted = await change(id, "lift-block");
    assert.deepEqual([lifted.updatedAt, lifted.cancelledAt], [after(5), after(4)]);
    const events = await eventsOf(id);
    assert.deepEqual(
      events.slice(1).map(({ timestamp }) => timestamp),
      [1, 2, 3, 4].map(after),
    );
  });
});
