import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, rounds, withClient } from "@ehr-marketplace/test-kit";
import { fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { patientLimits } from "@ehr-marketplace/tests/support/patient-limits";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { startApiProcess, startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";
import { committedEvents, countArrivals, waitUntilSettled } from "./arrivals.ts";

const fixture = new URL("./kill-after-commit.test-fixture.ts", import.meta.url).href;
const clients = 8;

test("kill -9 of the API between commit and response: exactly the committed subscriptions reach their EHR", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const callers = await fetchCallers();
  const token = callers.token("operator");
  const receiver = await startReceiver(cleanUp);
  const count = rounds(2, 20);
  const practices = await registerPractices(ownerUrl, {
    count: count * 100,
    callbackUrl: (nth) => `${receiver.url}/ehr-of-practice-${nth + 1}`,
  });
  const pricingPlanId = await withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      "select pricing_plans.id from pricing_plans join apps on apps.id = app_id where slug = 'northwind-scribe' limit 1",
    );
    return rows[0]?.id;
  });
  const worker = await startWorkerProcess(cleanUp, serviceUrl, { environment: { LOG_LEVEL: "error" } });

  const acknowledged = new Set<string>();
  let failedRequests = 0;
  /** Subscribes practices one by one without retries, so that only the commit can cause an event. */
  const subscribe = async (url: string): Promise<void> => {
    for (let practice = practices.pop(); practice !== undefined; practice = practices.pop()) {
      const body = { appSlug: "northwind-scribe", orgAlias: practice.alias, pricingPlanId };
      const response = await sendApiRequest(url, "/subscriptions", token, { body }).catch(() => undefined);
      const created = response === undefined ? undefined : await response.json().catch(() => undefined);
      if (response === undefined || created === undefined) {
        failedRequests += 1;
        return;
      }
      assert.equal(response.status, 201);
      acknowledged.add((created as SubscriptionDto).id);
    }
  };
  for (let round = 0; round < count; round += 1) {
    const api = await startApiProcess(cleanUp, serviceUrl, {
      environment: {
        ...callers.environment,
        ...patientLimits,
        LOG_LEVEL: "error",
        KILL_AFTER_COMMITS: String(randomInt(10, 60)),
      },
      nodeOptions: ["--import", fixture],
    });
    await Promise.all(Array.from({ length: clients }, () => subscribe(api.url)));
    await api.exited;
    assert.equal(api.child.signalCode, "SIGKILL");
  }
  await waitUntilSettled(ownerUrl);

  const committed = await committedEvents(ownerUrl);
  const { arrived, lost, unexpected, duplicates } = countArrivals(receiver.received, committed);
  assert.deepEqual({ lost, unexpected, duplicates }, { lost: 0, unexpected: 0, duplicates: 0 });
  assert.deepEqual(
    acknowledged.difference(new Set(committed.keys())),
    new Set(),
    "every acknowledged subscription is committed",
  );
  for (const { path, event } of receiver.received) {
    assert.equal(path, `/ehr-of-${event.subscription.orgAlias}/api/internal/marketplace-webhook`);
  }
  const unacknowledged = committed.size - acknowledged.size;
  assert.ok(unacknowledged >= count, "each kill was between commit and response");
  assert.equal(worker.child.exitCode, null);
  t.diagnostic(
    `${count} kills: ${committed.size} subscriptions committed, ${unacknowledged} of them without a response; ${arrived} events ` +
      `arrived, each once and at its own EHR, lost 0; ${failedRequests - unacknowledged} requests had no effect`,
  );
});
