import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import { startMarketplaceWithCallers } from "@ehr-marketplace/tests/support/marketplace-with-callers";

test("an upgrade of the queue stops no running process; one that restarts says why it isn't ready", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const running = await startMarketplaceWithCallers(cleanUp);
  const raiseBy = (by: number) =>
    withClient(running.database.ownerUrl, (client) =>
      client.query("update pgboss.version set version = version + $1", [by]),
    );
  const [plan] = await running.plans("northwind-scribe");
  const body = { orgAlias: "riverside-clinic", appSlug: "northwind-scribe", pricingPlanId: plan?.id };
  await raiseBy(1);

  const restarted = await startMarketplace(cleanUp, running.database.serviceUrl, running.callers.environment);
  const isReady = async (url: string): Promise<boolean> => (await fetch(`${url}/health/ready`)).ok;
  const { detail } = await assertProblem(await fetch(`${restarted.url}/health/ready`), 503, "unavailable");
  assert.equal(detail, "Not ready: queue-version.");
  assert.equal((await restarted.get("/apps")).status, 200);
  const token = running.callers.token("riverside-admin");
  await assertProblem(await sendApiRequest(restarted.url, "/subscriptions", token, { body }), 503, "unavailable");

  assert.ok(await isReady(running.url));
  assert.equal((await running.requestAs("riverside-admin", "/subscriptions", { body })).status, 201);

  await raiseBy(-1);
  await eventually("it is ready without another restart", 60_000, () => isReady(restarted.url));
});
