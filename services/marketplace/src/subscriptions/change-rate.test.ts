import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { type RequestOptions, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import {
  type MarketplaceWithCallers,
  startMarketplaceWithCallers,
} from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { subscribe, subscribed } from "./subscribe.test-support.ts";

describe("a subscription changes at most 30 times an hour", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: MarketplaceWithCallers;
  before(async () => {
    marketplace = await startMarketplaceWithCallers(cleanUp);
  });
  const pauseOrResume = (nth: number): RequestOptions & { action: string } =>
    nth % 2 === 0
      ? { action: "pause", method: "POST", body: { reason: "ORG_REQUEST" } }
      : { action: "resume", method: "POST" };
  const change = (who: "operator" | "riverside-admin", id: string, nth: number, headers = {}): Promise<Response> => {
    const { action, ...options } = pauseOrResume(nth);
    return marketplace.requestAs(who, `/subscriptions/${id}/${action}`, { ...options, headers });
  };
  const changedUntilRefused = async (id: string): Promise<{ changes: number; response: Response }> => {
    for (let changes = 0; ; changes += 1) {
      const response = await change("riverside-admin", id, changes, { "idempotency-key": `${id} ${changes}` });
      if (response.status !== 200) return { changes, response };
      await response.arrayBuffer();
    }
  };
  const letTimePass = (id: string, interval: string): Promise<unknown> =>
    withClient(marketplace.database.ownerUrl, (client) =>
      client.query("update events set occurred_at = occurred_at - $2::interval where subscription_id = $1", [
        id,
        interval,
      ]),
    );

  test("refuses the 31st, counted from its creation, with Retry-After, and accepts it after that time", async () => {
    const { id } = await subscribed(marketplace, "northwind-scribe");
    const { changes, response } = await changedUntilRefused(id);
    assert.equal(changes, 29, "its creation is the first of the thirty");
    const { headers } = response;
    await assertProblem(response, 429, "subscription-changed-too-often");
    const seconds = Number(headers.get("retry-after"));
    assert.ok(seconds > 3_000 && seconds <= 3_600, `${seconds}`);
    assert.deepEqual(
      ["limit", "remaining", "reset"].map((name) => headers.get(`ratelimit-${name}`)),
      ["30", "0", String(seconds)],
    );

    const repeated = await change("riverside-admin", id, 0, { "idempotency-key": `${id} 0` });
    assert.equal(repeated.status, 200, "a repeated request changes nothing, and gets its first response");
    const unchanged = await change("riverside-admin", id, 28);
    assert.equal(unchanged.status, 200, "and neither does a command for the state that it has");

    await letTimePass(id, `${seconds - 60} seconds`);
    assert.equal((await change("riverside-admin", id, 29)).status, 429);
    await letTimePass(id, "60 seconds");
    assert.equal((await change("riverside-admin", id, 29)).status, 200);
  });

  test("operators are exempt", async () => {
    const { id } = await subscribed(marketplace, "lumen-schedule");
    const { changes } = await changedUntilRefused(id);
    for (const nth of [changes, changes + 1, changes + 2]) {
      assert.equal((await change("operator", id, nth)).status, 200);
    }
    const cancelled = await marketplace.requestAs("riverside-admin", `/subscriptions/${id}/cancel`, { method: "POST" });
    await assertProblem(cancelled, 429, "subscription-changed-too-often");
  });

  test("is created at most 30 times a day for one organisation and app, operators exempt", async () => {
    const slug = "tallowmere-claims";
    const cancel = (id: string) => marketplace.requestAs("operator", `/subscriptions/${id}/cancel`, { method: "POST" });
    for (let nth = 0; nth < 30; nth += 1) await cancel((await subscribed(marketplace, slug)).id);
    const refused = await subscribe(marketplace, slug);
    const seconds = Number(refused.headers.get("retry-after"));
    await assertProblem(refused, 429, "subscription-created-too-often");
    assert.ok(seconds > 86_000 && seconds <= 86_400, `${seconds}`);
    await cancel((await subscribed(marketplace, slug, { by: "operator" })).id);
    await withClient(marketplace.database.ownerUrl, (client) =>
      // The trigger rejects earlier times.
      client.query(`set session_replication_role = replica;
        update subscriptions set created_at = created_at - interval '1 day'`),
    );
    await subscribed(marketplace, slug);
  });

  test("counts changes across all processes", async () => {
    const { id } = await subscribed(marketplace, "inbox-heron");
    const other = await startMarketplace(cleanUp, marketplace.database.serviceUrl, marketplace.callers.environment);
    const token = marketplace.callers.token("riverside-admin");
    let refused = 0;
    for (let round = 0; round < 40 && refused < 8; round += 1) {
      const responses = await Promise.all(
        Array.from({ length: 4 }, (_, nth) => {
          const { action, ...options } = pauseOrResume(round + nth);
          return sendApiRequest(
            nth < 2 ? marketplace.url : other.url,
            `/subscriptions/${id}/${action}`,
            token,
            options,
          );
        }),
      );
      refused += responses.filter(({ status }) => status === 429).length;
    }
    const { rows } = await withClient(marketplace.database.ownerUrl, (client) =>
      client.query("select count(*)::int as events from events where subscription_id = $1", [id]),
    );
    assert.deepEqual(rows, [{ events: 30 }]);
  });
});
