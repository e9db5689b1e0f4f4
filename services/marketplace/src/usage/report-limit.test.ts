import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertProblem } from "@ehr-marketplace/test-kit/contract";
import { startMarketplaceWithCallers } from "@ehr-marketplace/tests/support/marketplace-with-callers";

test("reports of usage have a limit of their own, and leave a vendor its other requests", async (t) => {
  const limits = { CALLER_REQUESTS_PER_MINUTE: "1", USAGE_REQUESTS_PER_MINUTE: "3" };
  const marketplace = await startMarketplaceWithCallers(cleanUpAfter(t), limits);
  const path = `/subscriptions/${randomUUID()}/usage`;
  const body = { records: [{ id: "1", metric: "notes", quantity: 1, occurredAt: new Date().toISOString() }] };
  const report = () => marketplace.requestAs("northwind-developer", path, { body });
  for (let nth = 0; nth < 3; nth += 1) await assertProblem(await report(), 404, "subscription-not-found");
  await assertProblem(await report(), 429, "rate-limited");
  const read = () => marketplace.requestAs("northwind-developer", "/developer/apps");
  assert.equal((await read()).status, 200);
  await assertProblem(await read(), 429, "rate-limited");
});
