import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { cleanUpAfter, cloneDatabase, eventually, withClient } from "@ehr-marketplace/test-kit";
import { fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { patientLimits } from "@ehr-marketplace/tests/support/patient-limits";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import { startApiProcess, startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";

const fixture = new URL("./kill-at-stage.test-fixture.ts", import.meta.url).href;

// The tests mostly wait until deliveries are taken over, and use separate databases, so they run concurrently.
describe("a delivery completes after its worker is killed at any stage", { concurrency: true }, () => {
  for (const [stage, requests, unknown] of [
    ["claimed", 1, 0],
    ["log opened", 1, 1],
    ["request sent, no response yet", 2, 1],
    ["response received, not settled", 2, 1],
  ] as const) {
    test(stage, async (t) => {
      const cleanUp = cleanUpAfter(t);
      const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
      const callers = await fetchCallers();
      const receiver = await startReceiver(cleanUp);
      const [practice] = await registerPractices(ownerUrl, { count: 1, callbackUrl: receiver.url });
      const api = await startApiProcess(cleanUp, serviceUrl, {
        environment: { ...callers.environment, ...patientLimits },
      });
      const victim = await startWorkerProcess(cleanUp, serviceUrl, {
        environment: { KILL_AT: stage },
        nodeOptions: ["--import", fixture],
      });
      if (stage === "request sent, no response yet") receiver.respond = () => victim.child.kill("SIGKILL");

      const plans = (await (await sendApiRequest(api.url, "/apps/northwind-scribe/pricing", undefined)).json()) as {
        id: string;
      }[];
      const body = { appSlug: "northwind-scribe", orgAlias: practice?.alias, pricingPlanId: plans[0]?.id };
      assert.equal((await sendApiRequest(api.url, "/subscriptions", callers.token("operator"), { body })).status, 201);
      await victim.exited;

      receiver.respond = (_received, response) => response.writeHead(204).end();
      await startWorkerProcess(cleanUp, serviceUrl);
      const state = () =>
        withClient(ownerUrl, async (client) => {
          const { rows } = await client.query<{ status: string; attempts: number; unknown: number; logged: number }>(
            `select status, attempts,
               (select count(*)::int from delivery_attempts where outcome = 'unknown') as unknown,
               (select count(*)::int from delivery_attempts) as logged from deliveries`,
          );
          return rows[0];
        });
      await eventually("the event is delivered", 30_000, async () => (await state())?.status === "delivered");
      assert.equal(receiver.received.length, requests);
      assert.deepEqual(await state(), { status: "delivered", attempts: unknown + 1, unknown, logged: unknown + 1 });
      const ids = new Set(receiver.received.map(({ headers }) => headers["x-marketplace-delivery-id"]));
      assert.equal(ids.size, 1, "a retry has the same delivery id");
    });
  }
});
