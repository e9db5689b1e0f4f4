import assert from "node:assert/strict";
import { randomInt, randomUUID } from "node:crypto";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { withClient } from "@ehr-marketplace/dev/postgres";
import {
  ask,
  cleanUpAfter,
  cloneDatabase,
  eventually,
  rounds,
  startApiProcess,
  startCallers,
} from "@ehr-marketplace/tests/support";
import { inconsistencies } from "./subscription-consistency.ts";

const workers = 8;

interface Intent {
  key: string;
  body: { appSlug: string; orgAlias: string; pricingPlanId: string };
}

test("kill -9 under creates and cancels: what was answered is there, and states and events agree", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const callers = await startCallers(cleanUp);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const token = callers.token("operator");
  const organisations = 500;
  const plans = await withClient(ownerUrl, async (client) => {
    await client.query(
      `insert into organisations (id, alias, display_name, sealed_secret, created_at, updated_at)
       select gen_random_uuid(), 'clinic-' || n, 'Clinic ' || n, '1.none', now(), now() from generate_series(1, $1) n`,
      [organisations],
    );
    const { rows } = await client.query<{ slug: string; id: string }>(
      "select distinct on (slug) slug, pricing_plans.id from apps join pricing_plans on app_id = apps.id",
    );
    return rows;
  });
  let next = 0;
  const newIntent = (): Intent => {
    const plan = plans[next % plans.length];
    const orgAlias = `clinic-${(Math.floor(next / plans.length) % organisations) + 1}`;
    next += 1;
    return { key: randomUUID(), body: { appSlug: plan?.slug ?? "", orgAlias, pricingPlanId: plan?.id ?? "" } };
  };

  const answered = new Map<string, "created" | "cancelled">();
  let unanswered: Intent[] = [];
  let [creates, cancels, repeated] = [0, 0, 0];

  const work = async (url: string, alive: () => boolean): Promise<void> => {
    while (alive()) {
      const intent = unanswered.pop() ?? newIntent();
      try {
        const headers = { "idempotency-key": intent.key };
        const answer = await ask(url, "/subscriptions", token, { body: intent.body, headers });
        assert.equal(answer.status, 201, await answer.clone().text());
        const { id } = (await answer.json()) as SubscriptionDto;
        if (answered.has(id)) repeated += 1;
        answered.set(id, "created");
        creates += 1;
        if (randomInt(2) === 0) continue;
        const cancelled = await ask(url, `/subscriptions/${id}/cancel`, token, { method: "POST" });
        assert.equal(cancelled.status, 200);
        await cancelled.arrayBuffer();
        answered.set(id, "cancelled");
        cancels += 1;
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        unanswered.push(intent);
        return;
      }
    }
  };

  const count = rounds(4, 20);
  for (let round = 0; round < count; round += 1) {
    const environment = { ...callers.environment, LOG_LEVEL: "warn" };
    const api = await startApiProcess(cleanUp, serviceUrl, { environment });
    let alive = true;
    const before = creates;
    const working = Promise.all(Array.from({ length: workers }, () => work(api.url, () => alive)));
    await eventually("there is a load", 30_000, () => creates > before + 3);
    await delay(randomInt(100, 700));
    api.child.kill("SIGKILL");
    alive = false;
    await api.ended;
    await working;
    // Whoever got no answer may have been heard all the same: the key makes repeating harmless.
    unanswered = [...new Set(unanswered)];
    assert.deepEqual(await inconsistencies(ownerUrl), [], `after round ${round + 1}`);
  }

  const states = await withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ id: string; status: string }>("select id, status from subscriptions");
    return new Map(rows.map(({ id, status }) => [id, status]));
  });
  for (const [id, last] of answered) {
    assert.ok(states.has(id), `subscription ${id} was answered and is gone`);
    if (last === "cancelled") assert.equal(states.get(id), "cancelled", `cancelling ${id} was answered`);
  }
  assert.ok(creates > count && cancels > 0, "there was a load");
  t.diagnostic(
    `${count} kills: ${creates} creates and ${cancels} cancels answered, all there; ${states.size} subscriptions, ` +
      `${repeated} creates repeated after a kill had hit between commit and answer`,
  );
});
