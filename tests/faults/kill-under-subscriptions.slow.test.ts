import assert from "node:assert/strict";
import { randomInt, randomUUID } from "node:crypto";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, eventually, rounds, withClient } from "@ehr-marketplace/test-kit";
import { fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { patientLimits } from "@ehr-marketplace/tests/support/patient-limits";
import { startApiProcess } from "@ehr-marketplace/tests/support/service-process";
import { findInconsistencies } from "@ehr-marketplace/tests/support/subscription-consistency";

const workers = 8;

interface Intent {
  key: string;
  body: { appSlug: string; orgAlias: string; pricingPlanId: string };
}

test("kill -9 under creates and cancels: acknowledged changes are committed, and states match events", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const callers = await fetchCallers();
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const token = callers.token("operator");
  const organisations = 500;
  const plans = await withClient(ownerUrl, async (client) => {
    await client.query(
      `insert into organisations (id, alias, display_name, encrypted_secret, created_at, updated_at)
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

  const acknowledged = new Map<string, "created" | "cancelled">();
  let unacknowledged: Intent[] = [];
  let [creates, cancels, repeated] = [0, 0, 0];

  const work = async (url: string, alive: () => boolean): Promise<void> => {
    while (alive()) {
      const intent = unacknowledged.pop() ?? newIntent();
      try {
        const headers = { "idempotency-key": intent.key };
        const response = await sendApiRequest(url, "/subscriptions", token, { body: intent.body, headers });
        assert.equal(response.status, 201, await response.clone().text());
        const { id } = (await response.json()) as SubscriptionDto;
        if (acknowledged.has(id)) repeated += 1;
        acknowledged.set(id, "created");
        creates += 1;
        if (randomInt(2) === 0) continue;
        const cancelled = await sendApiRequest(url, `/subscriptions/${id}/cancel`, token, { method: "POST" });
        assert.equal(cancelled.status, 200);
        await cancelled.arrayBuffer();
        acknowledged.set(id, "cancelled");
        cancels += 1;
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        unacknowledged.push(intent);
        return;
      }
    }
  };

  const count = rounds(4, 20);
  for (let round = 0; round < count; round += 1) {
    const environment = { ...callers.environment, ...patientLimits, LOG_LEVEL: "warn" };
    const api = await startApiProcess(cleanUp, serviceUrl, { environment });
    let alive = true;
    const before = creates;
    const working = Promise.all(Array.from({ length: workers }, () => work(api.url, () => alive)));
    await eventually("creates succeed", 30_000, () => creates > before + 3);
    await delay(randomInt(100, 700));
    api.child.kill("SIGKILL");
    alive = false;
    await api.exited;
    await working;
    // A request without a response may have been committed; its idempotency key makes the retry safe.
    unacknowledged = [...new Set(unacknowledged)];
    assert.deepEqual(await findInconsistencies(ownerUrl), [], `after round ${round + 1}`);
  }

  const states = await withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ id: string; status: string }>("select id, status from subscriptions");
    return new Map(rows.map(({ id, status }) => [id, status]));
  });
  for (const [id, last] of acknowledged) {
    assert.ok(states.has(id), `subscription ${id} was acknowledged and is missing`);
    if (last === "cancelled") assert.equal(states.get(id), "cancelled", `cancelling ${id} was acknowledged`);
  }
  assert.ok(creates > count && cancels > 0, "creates and cancels succeeded");
  t.diagnostic(
    `${count} kills: ${creates} creates and ${cancels} cancels acknowledged, all committed; ${states.size} subscriptions, ` +
      `${repeated} creates retried after a kill between commit and response`,
  );
});
